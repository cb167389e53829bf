import { describeStatus, codeOfStatus } from './parse-response.ts';
import { Breaker, type BreakerLimits, type BreakerState } from './breaker.ts';
import type { Clock } from './clock.ts';
import { type BmcEndpoint, originOf } from '../endpoint.ts';
import { handedOverError, RedfishError, type RedfishErrorCode } from '../errors.ts';
import type { IdleConnections } from './idle-connections.ts';
import type { TlsContexts } from './tls-contexts.ts';
import { type HttpRequest, type RawResponse, Transport } from './transport.ts';

/** One exchange that is over. */
export interface RequestEvent {
  readonly method: string;
  readonly path: string;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  /** Undefined when the BMC did what it was asked for. */
  readonly error: RedfishErrorCode | undefined;
  readonly ms: number;
}

/** Hears about traffic, for metrics. */
export interface BmcObserver {
  /** A request is on its way; `request` follows when it is over. */
  requestStarted?(): void;
  request(event: RequestEvent): void;
  sessions(count: number): void;
  breaker(state: BreakerState): void;
}

export interface HttpRoundTripperOptions {
  readonly endpoint: BmcEndpoint;
  readonly clock: Clock;
  readonly idleConnections: IdleConnections;
  readonly tlsContexts: TlsContexts;
  readonly random: () => number;
  readonly limits: {
    readonly inFlight: number;
    readonly callDeadlineMs: number;
    readonly maxBodyBytes: number;
    readonly breaker: BreakerLimits;
  };
  readonly observer: BmcObserver | undefined;
  /** Asked before each request and for each new connection. */
  readonly maySend: (() => boolean) | undefined;
  readonly onBreaker: (state: BreakerState) => void;
}

/** Requests and answers of one BMC, each judged: what fails too often is left alone. */
export class HttpRoundTripper {
  readonly #clock: Clock;
  readonly #observer: BmcObserver | undefined;
  readonly #breaker: Breaker;
  readonly #transport: Transport;
  readonly #maySend: () => boolean;
  readonly #origin: string;

  constructor(options: HttpRoundTripperOptions) {
    const { endpoint, clock, random, limits, observer, onBreaker, maySend = () => true } = options;
    this.#clock = clock;
    this.#observer = observer;
    this.#maySend = maySend;
    this.#origin = originOf(endpoint);
    const { idleConnections, tlsContexts } = options;
    this.#transport = new Transport({ endpoint, clock, idleConnections, tlsContexts, ...limits, maySend });
    this.#breaker = new Breaker({
      clock,
      random,
      origin: this.#origin,
      limits: limits.breaker,
      onChange: (state) => {
        onBreaker(state);
        observer?.breaker(state);
      },
    });
  }

  get breaker(): BreakerState {
    return this.#breaker.state;
  }

  /** Answers whatever the status. A 5xx of a side resource speaks for that resource alone. */
  async roundTrip(request: HttpRequest, isSideResource = false): Promise<RawResponse> {
    if (!this.#maySend()) throw handedOverError(this.#origin);
    this.#breaker.admit();
    const startedAt = this.#clock.now();
    this.#observer?.requestStarted?.();
    let status: number | undefined;
    let error: RedfishErrorCode | undefined;
    try {
      const response = await this.#transport.roundTrip(request);
      status = response.status;
      error = status < 400 ? undefined : codeOfStatus(status);
      this.#recordOutcome(response, request, isSideResource);
      return response;
    } catch (cause) {
      if (cause instanceof RedfishError) error = cause.code;
      if (countsAsFailure(cause)) this.#breaker.failed(cause);
      else this.#breaker.undecided();
      throw cause;
    } finally {
      const { method, path } = request;
      this.#observer?.request({ method, path, status, error, ms: this.#clock.now() - startedAt });
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  /** 501 is an honest answer of a healthy BMC, other 5xx are not. */
  #recordOutcome({ status }: RawResponse, { method, path }: HttpRequest, isSideResource: boolean): void {
    if (status < 500 || status === 501 || isSideResource) return this.#breaker.succeeded();
    // Without what the BMC has to say: after a login that may be anything.
    const message = describeStatus({ origin: this.#origin, method, path }, status);
    this.#breaker.failed(new RedfishError({ code: codeOfStatus(status), status, message }));
  }
}

const countsAsFailure = (error: unknown): error is RedfishError =>
  error instanceof RedfishError && ['Unreachable', 'TimedOut', 'BadAnswer'].includes(error.code);

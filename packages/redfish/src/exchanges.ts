import { Breaker, type BreakerLimits, type BreakerState } from './breaker.ts';
import type { Clock } from './clock.ts';
import { type BmcEndpoint, originOf } from './endpoint.ts';
import { RedfishError } from './errors.ts';
import { type Exchange, type RawAnswer, Transport } from './transport.ts';

/** Hears about traffic, for metrics. `status` is undefined when there was no answer. */
export interface BmcObserver {
  request(event: { method: string; path: string; status: number | undefined; ms: number }): void;
  sessions(count: number): void;
  breaker(state: BreakerState): void;
}

export interface ExchangesOptions {
  readonly endpoint: BmcEndpoint;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: {
    readonly inFlight: number;
    readonly callDeadlineMs: number;
    readonly maxBodyBytes: number;
    readonly breaker: BreakerLimits;
  };
  readonly observer: BmcObserver | undefined;
  readonly onBreaker: (state: BreakerState) => void;
}

/** Requests and answers of one BMC, each judged: what fails too often is left alone. */
export class Exchanges {
  readonly #clock: Clock;
  readonly #observer: BmcObserver | undefined;
  readonly #breaker: Breaker;
  readonly #transport: Transport;

  constructor({ endpoint, clock, random, limits, observer, onBreaker }: ExchangesOptions) {
    const { inFlight: connections, callDeadlineMs, maxBodyBytes } = limits;
    this.#clock = clock;
    this.#observer = observer;
    this.#transport = new Transport({ endpoint, clock, connections, maxBodyBytes, callDeadlineMs });
    this.#breaker = new Breaker({
      clock,
      random,
      origin: originOf(endpoint),
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
  async exchange(exchange: Exchange, isSideResource = false): Promise<RawAnswer> {
    this.#breaker.admit();
    const startedAt = this.#clock.now();
    let status: number | undefined;
    try {
      const answer = await this.#transport.exchange(exchange);
      status = answer.status;
      this.#judge(answer, isSideResource);
      return answer;
    } catch (error) {
      if (countsAsFailure(error)) this.#breaker.failed(error.code);
      else this.#breaker.undecided();
      throw error;
    } finally {
      const { method, path } = exchange;
      this.#observer?.request({ method, path, status, ms: this.#clock.now() - startedAt });
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  /** 501 is an honest answer of a healthy BMC, other 5xx are not. */
  #judge({ status }: RawAnswer, isSideResource: boolean): void {
    if (status < 500 || status === 501 || isSideResource) this.#breaker.succeeded();
    else this.#breaker.failed(`HTTP ${status}`);
  }
}

const countsAsFailure = (error: unknown): error is RedfishError =>
  error instanceof RedfishError && ['Unreachable', 'TimedOut', 'BadAnswer'].includes(error.code);

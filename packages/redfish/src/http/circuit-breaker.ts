import { RedfishError } from '../errors.ts';
import type { Clock } from './clock.ts';
import type { Interceptor } from './interceptor.ts';
import { codeOfStatus, describeStatus } from './parse-response.ts';
import type { RawResponse, RedfishRequest } from './request.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerLimits {
  /** Consecutive failures that open it. */
  readonly failures: number;
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
}

export interface CircuitBreakerOptions {
  readonly clock: Clock;
  /** 0 ≤ x < 1; jitter between breakers that opened together. */
  readonly random: () => number;
  /** Name of the BMC in messages. */
  readonly origin: string;
  readonly limits: BreakerLimits;
  readonly onChange: (state: BreakerState) => void;
}

/**
 * Sends nothing to a BMC that keeps failing.
 *
 *   closed ──(n failures in a row)──► open ──(pause over, next request)──► half-open ──success──► closed
 *                                      ▲                                       │
 *                                      └──────────(failure: double pause)──────┘
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #state: BreakerState = 'closed';
  #failuresInARow = 0;
  #openings = 0;
  #since = 0;
  #nextTryAt = 0;
  #lastFailure: RedfishError | undefined;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Fails with CircuitOpen, whose cause is the last failure, without sending. While half-open exactly one request passes. */
  readonly intercept: Interceptor = async (request, next) => {
    this.#admit();
    try {
      const response = await next(request);
      this.#recordResponse(response, request);
      return response;
    } catch (error) {
      if (countsAsFailure(error)) this.#recordFailure(error);
      else this.#recordInconclusive();
      throw error;
    }
  };

  #admit(): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'open' && this.#options.clock.now() >= this.#nextTryAt) return this.#setState('half-open');
    throw this.#openError();
  }

  /** 501 is a correct response of a healthy BMC, other 5xx are failures. */
  #recordResponse({ status }: RawResponse, { method, path, isSideResource }: RedfishRequest): void {
    if (status < 500 || status === 501 || isSideResource === true) return this.#recordSuccess();
    // Without the text of the response: after a login it may hold anything.
    const message = describeStatus({ origin: this.#options.origin, method, path }, status);
    this.#recordFailure(new RedfishError({ code: codeOfStatus(status), status, message }));
  }

  #recordSuccess(): void {
    this.#failuresInARow = 0;
    this.#openings = 0;
    this.#setState('closed');
  }

  #recordFailure(error: RedfishError): void {
    if (this.#failuresInARow === 0) this.#since = this.#options.clock.now();
    this.#failuresInARow += 1;
    this.#lastFailure = error;
    const tooMany = this.#state === 'closed' && this.#failuresInARow >= this.#options.limits.failures;
    if (this.#state === 'half-open' || tooMany) this.#open();
  }

  /** The outcome does not depend on the health of the BMC, e.g. because the caller aborted. The next request may try again. */
  #recordInconclusive(): void {
    if (this.#state === 'half-open') this.#setState('open');
  }

  #open(): void {
    const { clock, random, limits } = this.#options;
    const pauseMs = Math.min(limits.firstPauseMs * 2 ** this.#openings, limits.maxPauseMs);
    this.#openings += 1;
    this.#nextTryAt = clock.now() + pauseMs * (1 - random() / 4);
    this.#setState('open');
  }

  #setState(state: BreakerState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onChange(state);
  }

  #openError(): RedfishError {
    const { clock, origin } = this.#options;
    const cause = this.#lastFailure;
    const waitMs = Math.max(0, this.#nextTryAt - clock.now());
    const nextTry =
      this.#state === 'half-open'
        ? 'one request is finding out whether it is back'
        : `it is left alone for ${(waitMs / 1_000).toFixed(1)} s, until ${rfc3339(this.#nextTryAt)}`;
    return new RedfishError({
      code: 'CircuitOpen',
      message: `${origin} has failed ${this.#failuresInARow} times in a row since ${rfc3339(this.#since)} (last: ${describeError(cause)}); ${nextTry}`,
      retryAfterMs: waitMs,
      cause,
    });
  }
}

const countsAsFailure = (error: unknown): error is RedfishError =>
  error instanceof RedfishError && ['Unreachable', 'TimedOut', 'BadAnswer'].includes(error.code);

const describeError = (error: RedfishError | undefined): string =>
  error?.status === undefined ? (error?.code ?? '') : `HTTP ${error.status}`;

const rfc3339 = (epochMs: number): string => new Date(epochMs).toISOString();

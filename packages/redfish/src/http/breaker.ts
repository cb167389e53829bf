import type { Clock } from './clock.ts';
import { RedfishError } from '../errors.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerLimits {
  /** Consecutive failures that open it. */
  readonly failures: number;
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
}

export interface BreakerOptions {
  readonly clock: Clock;
  /** 0 ≤ x < 1; spreads the probes of many breakers that opened together. */
  readonly random: () => number;
  /** Name of the BMC in messages. */
  readonly origin: string;
  readonly limits: BreakerLimits;
  readonly onChange: (state: BreakerState) => void;
}

/**
 * Leaves a failing BMC alone.
 *
 *   closed ──(n failures in a row)──► open ──(pause over, next call)──► half-open ──success──► closed
 *                                      ▲                                    │
 *                                      └────────(failure: double pause)─────┘
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #state: BreakerState = 'closed';
  #failuresInARow = 0;
  #openings = 0;
  #since = 0;
  #nextTryAt = 0;
  #lastFailure: RedfishError | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Lets an exchange pass or throws CircuitOpen, whose cause is the last failure. While half-open exactly one exchange passes. */
  admit(): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'open' && this.#options.clock.now() >= this.#nextTryAt) return this.#setState('half-open');
    throw this.#openError();
  }

  succeeded(): void {
    this.#failuresInARow = 0;
    this.#openings = 0;
    this.#setState('closed');
  }

  failed(error: RedfishError): void {
    if (this.#failuresInARow === 0) this.#since = this.#options.clock.now();
    this.#failuresInARow += 1;
    this.#lastFailure = error;
    const tooMany = this.#state === 'closed' && this.#failuresInARow >= this.#options.limits.failures;
    if (this.#state === 'half-open' || tooMany) this.#open();
  }

  /** The exchange ended without telling anything about the BMC, e.g. because the caller gave up. */
  undecided(): void {
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

const describeError = (error: RedfishError | undefined): string =>
  error?.status === undefined ? (error?.code ?? '') : `HTTP ${error.status}`;

const rfc3339 = (epochMs: number): string => new Date(epochMs).toISOString();

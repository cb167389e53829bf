import type { Clock } from './clock.ts';
import { RedfishError } from './errors.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

const failuresToOpen = 5;
const firstPauseMs = 2_000;
const longestPauseMs = 120_000;

/**
 * Leaves a BMC that does not answer alone: after five failures in a row nothing is sent for a while, then one request
 * tries. The pause doubles, with jitter, up to two minutes.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #onChange: (state: BreakerState) => void;
  #failures = 0;
  #pauses = 0;
  #since = 0;
  #retryAt = 0;
  #state: BreakerState = 'closed';

  constructor(clock: Clock, random: () => number, onChange: (state: BreakerState) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#onChange = onChange;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** @throws RedfishError CircuitOpen while the BMC is left alone. */
  admit(): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'open' && this.#clock.now() >= this.#retryAt) return this.#become('half-open');
    const at = (ms: number) => new Date(ms).toISOString();
    throw new RedfishError({
      code: 'CircuitOpen',
      message: `the BMC has not answered since ${at(this.#since)}; it is left alone until ${at(this.#retryAt)}`,
    });
  }

  succeeded(): void {
    this.#failures = 0;
    this.#pauses = 0;
    this.#become('closed');
  }

  failed(): void {
    if (this.#failures === 0) this.#since = this.#clock.now();
    this.#failures += 1;
    if (this.#state === 'closed' && this.#failures < failuresToOpen) return;
    const pauseMs = Math.min(firstPauseMs * 2 ** this.#pauses, longestPauseMs) * (0.75 + this.#random() / 4);
    this.#pauses += 1;
    this.#retryAt = this.#clock.now() + pauseMs;
    this.#become('open');
  }

  #become(state: BreakerState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#onChange(state);
  }
}

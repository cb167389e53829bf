import type { Clock } from './clock.ts';

export interface SingleFlightOptions {
  readonly clock: Clock;
  /** One key is asked about this often in the long run, … */
  readonly everyMs: number;
  /** … and this often at once, after a rest. */
  readonly burst: number;
}

/** Keys whose debts are remembered; those that were silent for longest are forgotten first. */
const mostKeys = 10_000;

/**
 * Many who ask the same share an answer, and nobody gets one that is older than the question:
 *
 *   nothing under way  ─►  it is asked
 *   under way          ─►  that one may have missed what we want to know: it is asked once more when that ends, for all
 *                          who come meanwhile
 *
 * However many ask, each key is asked about one at a time and no more often than agreed: the others wait a little, and
 * nobody is turned away. A question that fails fails for those who waited for it to end, too.
 */
export class SingleFlight<T> {
  readonly #options: SingleFlightOptions;
  readonly #running = new Map<string, Promise<T>>();
  readonly #waiting = new Map<string, Promise<T>>();
  /** Until when a key has used up its share. */
  readonly #spentUntil = new Map<string, number>();

  constructor(options: SingleFlightOptions) {
    this.#options = options;
  }

  run(key: string, request: () => Promise<T>): Promise<T> {
    const result = this.#waiting.get(key) ?? this.#runNext(key, request);
    this.#waiting.set(key, result);
    return result;
  }

  async #runNext(key: string, request: () => Promise<T>): Promise<T> {
    try {
      await this.#running.get(key);
      await this.#pause(key);
    } finally {
      this.#waiting.delete(key);
    }
    const result = request();
    this.#running.set(key, result);
    try {
      return await result;
    } finally {
      this.#running.delete(key);
    }
  }

  async #pause(key: string): Promise<void> {
    const { clock, everyMs, burst } = this.#options;
    const now = clock.now();
    const spentUntil = Math.max(this.#spentUntil.get(key) ?? 0, now) + everyMs;
    this.#spentUntil.delete(key);
    this.#spentUntil.set(key, spentUntil);
    const [oldest = ''] = this.#spentUntil.keys();
    if (this.#spentUntil.size > mostKeys) this.#spentUntil.delete(oldest);
    const pauseMs = spentUntil - everyMs * burst - now;
    if (pauseMs > 0) await clock.sleep(pauseMs);
  }
}

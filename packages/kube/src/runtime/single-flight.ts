import type { Clock } from './clock.ts';
import { BoundedMap } from './bounded-map.ts';

export interface SingleFlightOptions {
  readonly clock: Clock;
  /** Token bucket per key: one request per interval, … */
  readonly everyMs: number;
  /** … and this many in a burst. */
  readonly burst: number;
}

/** Keys whose token buckets are kept; the least recently used are dropped first. */
const mostKeys = 10_000;

/**
 * Single-flight by key, with a rate limit. Callers share a result, which is never older than their call:
 *
 *   no request running  ─►  a request is sent
 *   request running     ─►  it may miss a later change: one more request follows it, for all callers that wait
 *
 * Each key has one request at a time, at the limited rate; other callers wait, and none is rejected. A request that fails
 * also fails for the callers that wait for it to end.
 */
export class SingleFlight<T> {
  readonly #options: SingleFlightOptions;
  readonly #running = new Map<string, Promise<T>>();
  readonly #waiting = new Map<string, Promise<T>>();
  /** When a key's token bucket is full. */
  readonly #spentUntil = new BoundedMap<string, number>(mostKeys);

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
    this.#spentUntil.set(key, spentUntil);
    const pauseMs = spentUntil - everyMs * burst - now;
    if (pauseMs > 0) await clock.sleep(pauseMs);
  }
}

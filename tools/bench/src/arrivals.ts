/** Expected members, arrived members, and their times since the start. */
export class Arrivals {
  /** In the order of arrival. */
  readonly seconds = new Map<string, number>();
  readonly expected: number;
  readonly #missing: Set<string>;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #complete = Promise.withResolvers<void>();
  #onArrival = (): void => undefined;

  /** @param now Milliseconds of a monotonic clock. */
  constructor(expected: Iterable<string>, now: () => number = () => performance.now()) {
    this.#missing = new Set(expected);
    this.expected = this.#missing.size;
    this.#now = now;
    this.#startedAt = now();
    if (this.expected === 0) this.#complete.resolve();
  }

  /** Ignores unexpected members and repeated arrivals. */
  arrive(name: string): void {
    if (!this.#missing.delete(name)) return;
    this.seconds.set(name, (this.#now() - this.#startedAt) / 1_000);
    this.#onArrival();
    if (this.#missing.size === 0) this.#complete.resolve();
  }

  /** Resolves when all have arrived. @throws Error with missing members after `timeoutMs` without an arrival. */
  async all(timeoutMs: number): Promise<void> {
    const timer = setTimeout(() => this.#complete.reject(this.#stalled(timeoutMs)), timeoutMs);
    this.#onArrival = () => void timer.refresh();
    await this.#complete.promise.finally(() => clearTimeout(timer));
  }

  #stalled(timeoutMs: number): Error {
    const some = [...this.#missing].slice(0, 3).join(', ');
    return new Error(
      `${this.seconds.size} of ${this.expected} arrived, and none in the last ${timeoutMs / 1_000} s; missing: ${some}${this.#missing.size > 3 ? ', …' : ''}`,
    );
  }
}

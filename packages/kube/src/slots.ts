/** A fixed number of places for turns being judged. A turn that waits for the network lends its place away. */
export class Slots {
  readonly size: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.size = size;
    this.#free = size;
  }

  get active(): number {
    return this.size - this.#free;
  }

  tryAcquire(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Those who wait are served in the order in which they came. */
  async acquire(): Promise<void> {
    if (!this.tryAcquire()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  /** Gives the place away for as long as the work takes. Those who come back are served before newcomers. */
  async lend<R>(work: () => Promise<R>, onFree: () => void): Promise<R> {
    const running = work();
    this.release();
    onFree();
    try {
      return await running;
    } finally {
      await this.acquire();
    }
  }
}

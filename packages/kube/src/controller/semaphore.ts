import type { Clock } from '../runtime/clock.ts';

/** A fixed number of places for work, such as turns being judged. A turn that waits for the network lends its place away. */
export class Semaphore {
  readonly size: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

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
    if (!this.tryAcquire()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** The same; false when it took longer than that, and there is none to be released. */
  tryAcquireFor(timeoutMs: number, clock: Clock): Promise<boolean> {
    if (this.tryAcquire()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const acquired = (): void => {
        timer[Symbol.dispose]();
        resolve(true);
      };
      const timer = clock.setTimeout(timeoutMs, () => {
        this.#waiting.delete(acquired);
        resolve(false);
      });
      this.#waiting.add(acquired);
    });
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }

  /** Gives the place away for as long as the work takes. Those who come back are served before newcomers. */
  async releaseWhile<R>(work: () => Promise<R>, onFree: () => void): Promise<R> {
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

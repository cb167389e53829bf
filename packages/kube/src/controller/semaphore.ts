import type { Clock } from '../runtime/clock.ts';

/** A fixed number of slots, such as for concurrent reconciles. A reconcile that waits for the network releases its slot. */
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

  /** Waiting callers get slots in first-in, first-out order. */
  async acquire(): Promise<void> {
    if (!this.tryAcquire()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** Like `acquire`, but resolves to false, without a slot, after the timeout. */
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

  /** Releases the slot while the work runs, then reacquires it, ahead of every `tryAcquire`. */
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

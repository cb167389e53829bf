import { Semaphore } from '@metal/kube/controller/semaphore.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { HttpError } from './http-error.ts';

export interface RequestLimiterOptions {
  readonly maxConcurrent: number;
  /** The longest wait for a place. */
  readonly queueTimeoutMs: number;
  /** Thrown after that wait. */
  readonly overloaded: () => HttpError;
  readonly clock: Clock;
}

/** Bounds the requests that are processed at the same time. The others wait in the order of their arrival, up to a timeout. */
export class RequestLimiter {
  readonly #options: RequestLimiterOptions;
  readonly #semaphore: Semaphore;

  constructor(options: RequestLimiterOptions) {
    this.#options = options;
    this.#semaphore = new Semaphore(options.maxConcurrent);
  }

  /** @throws the error of `overloaded`, and any error of the work */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { queueTimeoutMs, overloaded, clock } = this.#options;
    if (!(await this.#semaphore.tryAcquireFor(queueTimeoutMs, clock))) throw overloaded();
    try {
      return await work();
    } finally {
      this.#semaphore.release();
    }
  }
}

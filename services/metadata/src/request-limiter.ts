import type { Clock } from '@metal/kube/runtime/clock.ts';
import { Semaphore } from '@metal/kube/controller/semaphore.ts';
import { HttpError } from './http-error.ts';

/**
 * Machines whose user data is read at once, one request after the other for each: with the 24 requests of the boot service, which
 * may share our connections to the API server, as many as there are connections.
 */
const maxConcurrent = 8;
const queueTimeoutMs = 5_000;
/** A machine waits; an API server that hangs must not make it wait without end. */
const deadlineMs = 10_000;
const retryAfterSeconds = 5;

/**
 * A hall that starts from its disks asks for its user data at once, gives up, and comes again. Those for whom the API server has no
 * time yet wait here, where they cost it nothing, and not among the reads that others wait for.
 */
export class RequestLimiter {
  readonly #semaphore = new Semaphore(maxConcurrent);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The work has ten seconds, counted from when its turn comes, and is to end with its signal.
   * @throws Refusal 503, and whatever the work throws
   */
  async run<T>(work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
    if (!(await this.#semaphore.tryAcquireFor(queueTimeoutMs, this.#clock)))
      throw new HttpError(503, 'too many machines ask at once; try again', { retryAfterSeconds });
    try {
      return await work(AbortSignal.timeout(deadlineMs));
    } finally {
      this.#semaphore.release();
    }
  }
}

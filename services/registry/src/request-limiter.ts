import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limitResponses } from '@metal/http/connection-limit.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { Semaphore } from '@metal/kube/controller/semaphore.ts';
import { HttpError } from './http-error.ts';

/** Of up to 1 MiB each. More do not reach the API server sooner. */
const maxBodies = 128;
/** Parsed, and written anew, a report takes several times its room. The API server is asked for as many at once. */
const maxConcurrent = 24;
/** A probe hears no answer that comes after 5 s. */
const queueTimeoutMs = 3_000;
const retryAfterSeconds = 5;

/**
 * What machines report, when a hall of them does so at once:
 *
 *   before the body is read   one of 128 may come in; an address with many of them makes room for others
 *   as the bytes that came    up to 3 s in line
 *   parsed and written        24 at a time
 *
 * Who finds no room, or waits in vain, is told to come again.
 */
export class RequestLimiter {
  readonly #tryAdmit: (socket: Socket, response: ServerResponse) => boolean;
  readonly #semaphore = new Semaphore(maxConcurrent);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#tryAdmit = limitResponses({ most: maxBodies, clock });
  }

  /** Until the answer is given. @throws Refusal Busy */
  admit(socket: Socket, response: ServerResponse): void {
    // Who left while its token was judged will not leave again.
    if (response.destroyed || !this.#tryAdmit(socket, response)) throw busy();
  }

  /** @throws Refusal Busy, and whatever the work throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (!(await this.#semaphore.tryAcquireFor(queueTimeoutMs, this.#clock))) throw busy();
    try {
      return await work();
    } finally {
      this.#semaphore.release();
    }
  }
}

const busy = (): HttpError =>
  new HttpError('Busy', 'too many machines report at once; try again', { retryAfterSeconds });

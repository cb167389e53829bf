import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limitResponses } from '@metal/http/connection-limit.ts';
import { RequestLimiter } from '@metal/http/request-limiter.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { RegistryError } from './registry-error.ts';

/** Of up to 1 MiB each. More of them do not reach the API server sooner. */
const maxBodies = 128;
/** A report needs several times its size while it is parsed and encoded. The API server receives as many requests at once. */
const maxConcurrent = 24;
/** A probe waits 5 s for a response. */
const queueTimeoutMs = 3_000;
const retryAfterSeconds = 5;

/**
 * Bounds the memory and the API requests when many machines report at the same time:
 *
 *   before the body is read   128 requests; the client with the most of them makes room for others
 *   body in memory            waits up to 3 s
 *   parsed and written        24 at a time
 *
 * A request that exceeds a limit gets 503 with Retry-After.
 */
export class ReportLimiter {
  readonly #tryAdmit: (socket: Socket, response: ServerResponse) => boolean;
  readonly #limiter: RequestLimiter;

  constructor(clock: Clock) {
    this.#tryAdmit = limitResponses({ most: maxBodies, clock });
    this.#limiter = new RequestLimiter({ maxConcurrent, queueTimeoutMs, overloaded: busy, clock });
  }

  /** Holds until the response ends. @throws RegistryError Busy */
  admit(socket: Socket, response: ServerResponse): void {
    // A client that closed the connection during the token check emits no further close event.
    if (response.destroyed || !this.#tryAdmit(socket, response)) throw busy();
  }

  /** @throws RegistryError Busy, and any error of the work */
  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#limiter.run(work);
  }
}

const busy = (): RegistryError =>
  new RegistryError('Busy', 'too many machines report at once; try again', { retryAfterSeconds });

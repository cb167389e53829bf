import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limitAnswers } from '@metal/http/connection-limit.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { Slots } from '@metal/kube/slots.ts';
import { Refusal } from './refusal.ts';

/** Of up to 1 MiB each. More do not reach the API server sooner. */
const mostBodies = 128;
/** Parsed, and written anew, a report takes several times its room. The API server is asked for as many at once. */
const mostAtOnce = 24;
/** A probe hears no answer that comes after 5 s. */
const longestInLineMs = 3_000;
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
export class ReportLine {
  readonly #mayComeIn: (socket: Socket, answer: ServerResponse) => boolean;
  readonly #places = new Slots(mostAtOnce);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#mayComeIn = limitAnswers({ most: mostBodies, clock });
  }

  /** Until the answer is given. @throws Refusal Busy */
  comeIn(socket: Socket, answer: ServerResponse): void {
    // Who left while its token was judged will not leave again.
    if (answer.destroyed || !this.#mayComeIn(socket, answer)) throw busy();
  }

  /** @throws Refusal Busy, and whatever the work throws */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (!(await this.#places.acquireWithin(longestInLineMs, this.#clock))) throw busy();
    try {
      return await work();
    } finally {
      this.#places.release();
    }
  }
}

const busy = (): Refusal => new Refusal('Busy', 'too many machines report at once; try again', { retryAfterSeconds });

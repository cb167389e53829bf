import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { Pace } from './pace.ts';
import { Signal } from './signal.ts';

/**
 * Lets in Endpoints that became known together at the pace at which they are worked on, so that each is a server soon after
 * it was let in, instead of all of them being half of one for long, which costs memory and tells nobody anything:
 *
 *   thousands of Endpoints ──► 200 on the way ──► servers that are discovered, or wait for a machine or a person
 */
export class DiscoveryPace implements Disposable {
  /** The named Endpoint may begin. */
  readonly room = new Signal();
  readonly #pace: Pace;
  /** In the order in which they asked. */
  readonly #waiting = new Set<string>();
  readonly #following: Disposable;

  constructor({ clock, servers, most }: { clock: Clock; servers: Cache<Server>; most?: number | undefined }) {
    this.#pace = new Pace({ clock, most });
    this.#pace.left.on(() => this.#callNext());
    this.#following = servers.onChange(({ after }) => {
      // An Endpoint, its BMC and what that is called by its servers have one name.
      if (after !== undefined && isThrough(after)) this.#pace.leave(after.spec.bmcRef?.name ?? '');
    });
  }

  /** Whether the Endpoint may go on. One that may not is told by `room` when it may. */
  admits(name: string): boolean {
    if (this.#pace.has(name) || this.#pace.room > 0) return true;
    this.#waiting.add(name);
    return false;
  }

  /** The Endpoint is on its way, until its server is discovered, or it has been for a while. */
  enter(name: string): void {
    this.#waiting.delete(name);
    this.#pace.enter(name);
  }

  /** It is gone, or another replica's. */
  forget(name: string): void {
    this.#waiting.delete(name);
    this.#pace.leave(name);
  }

  /** From now on it is on its way: a newcomer that is looked at before it does not take its place. */
  #callNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.enter(next);
    this.room.emit(next);
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#pace[Symbol.dispose]();
  }
}

const isThrough = ({ status }: Server): boolean =>
  status?.state !== undefined && status.state !== 'Initial' && status.state !== 'Discovery';

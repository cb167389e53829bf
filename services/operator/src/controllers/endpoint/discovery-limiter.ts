import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { InFlightLimiter } from '@metal/kube/runtime/in-flight-limiter.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';

/**
 * Lets in Endpoints that became known together at the pace at which they are worked on, so that each is a server soon after
 * it was let in, instead of all of them being half of one for long, which costs memory and tells nobody anything:
 *
 *   thousands of Endpoints ──► 200 on the way ──► servers that are discovered, or wait for a machine or a person
 */
export class DiscoveryLimiter implements Disposable {
  /** The named Endpoint may begin. */
  readonly admitted = new KeyNotifier();
  readonly #limiter: InFlightLimiter;
  /** In the order in which they asked. */
  readonly #waiting = new Set<string>();
  readonly #subscription: Disposable;

  constructor({
    clock,
    servers,
    maxInFlight,
  }: { clock: Clock; servers: Cache<Server>; maxInFlight?: number | undefined }) {
    this.#limiter = new InFlightLimiter({ clock, maxInFlight });
    this.#limiter.released.on(() => this.#admitNext());
    this.#subscription = servers.onChange(({ after }) => {
      // An Endpoint, its BMC and what that is called by its servers have one name.
      if (after !== undefined && releasesSlot(after)) this.#limiter.release(after.spec.bmcRef?.name ?? '');
    });
  }

  /** Whether the Endpoint may go on. One that may not is told by `room` when it may. */
  admits(name: string): boolean {
    if (this.#limiter.has(name) || this.#limiter.available > 0) return true;
    this.#waiting.add(name);
    return false;
  }

  /** The Endpoint is on its way, until its server is discovered, or it has been for a while. */
  acquire(name: string): void {
    this.#waiting.delete(name);
    this.#limiter.acquire(name);
  }

  /** It is gone, or another replica's. */
  forget(name: string): void {
    this.#waiting.delete(name);
    this.#limiter.release(name);
  }

  /** From now on it is on its way: a newcomer that is looked at before it does not take its place. */
  #admitNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.acquire(next);
    this.admitted.emit(next);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#limiter[Symbol.dispose]();
  }
}

const releasesSlot = ({ status }: Server): boolean =>
  status?.state !== undefined && status.state !== 'Initial' && status.state !== 'Discovery';

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { InFlightLimiter } from '@metal/kube/runtime/in-flight-limiter.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';

/**
 * Limits the discoveries in flight. Of many Endpoints created together each becomes a server soon after it got its slot, instead
 * of all of them slowly at once, which costs memory:
 *
 *   thousands of Endpoints ──► 200 slots ──► servers that are discovered, or wait for a machine or a person
 */
export class DiscoveryLimiter implements Disposable {
  /** Emits the name of an Endpoint that got a slot. */
  readonly admitted = new KeyNotifier();
  readonly #limiter: InFlightLimiter;
  /** In the order of their requests. */
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
      // An Endpoint and its BMC have the same name.
      if (after !== undefined && releasesSlot(after)) this.#limiter.release(after.spec.bmcRef?.name ?? '');
    });
  }

  stateOf(name: string): 'admitted' | 'queued' | 'notQueued' {
    if (this.#limiter.has(name) || this.#limiter.available > 0) return 'admitted';
    return this.#waiting.has(name) ? 'queued' : 'notQueued';
  }

  /** Takes a place in the queue. `admitted` is emitted when a slot is free. */
  enqueue(name: string): void {
    this.#waiting.add(name);
    if (this.#limiter.available > 0) this.#admitNext();
  }

  /** Takes a slot, until the server is discovered or the slot times out. */
  acquire(name: string): void {
    this.#waiting.delete(name);
    this.#limiter.acquire(name);
  }

  /** The Endpoint is deleted, or belongs to another replica. */
  forget(name: string): void {
    this.#waiting.delete(name);
    this.#limiter.release(name);
  }

  /** Reserves the slot at once, so that an Endpoint that is reconciled earlier does not take it. */
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

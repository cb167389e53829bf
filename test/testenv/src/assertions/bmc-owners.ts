import { holdersOf } from '@metal/process/connection-holders.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Peer } from '@metal/simulator/traffic.ts';
import type { Testenv } from '../testenv.ts';
import { type OwnershipInterval, OwnershipIntervals } from './ownership-intervals.ts';

/** Records which process sends requests to each BMC, by the source port of the connection; see `OwnershipIntervals`. */
export class BmcOwners implements Disposable {
  readonly #testenv: Testenv;
  readonly #pids: () => Iterable<number>;
  readonly #ownershipIntervals = new OwnershipIntervals((pid) => new Set(this.#pids()).has(pid));
  readonly #pidOf = new WeakMap<Peer, number>();
  readonly #listeners = new Set<() => void>();
  readonly #subscriptions: Disposable[];

  constructor(testenv: Testenv, nodes: readonly Node[], pids: () => Iterable<number>) {
    this.#testenv = testenv;
    this.#pids = pids;
    this.#subscriptions = nodes.map((node) =>
      node.bmc.traffic.onRequest((event, peer) => this.#record(node, event, peer)),
    );
  }

  /** Violations of the invariant that one process at a time owns a BMC, in order. */
  get breaches(): readonly string[] {
    return this.#ownershipIntervals.breaches;
  }

  /** In the order of their requests to the BMC. */
  ownershipIntervalsAt({ name }: Node): readonly OwnershipInterval[] {
    return this.#ownershipIntervals.at(name);
  }

  /** The process with the last request to the BMC. */
  ownerOf({ name }: Node): number | undefined {
    return this.#ownershipIntervals.ownerOf(name);
  }

  /** Called after each request. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  #record(node: Node, event: 'arrived' | 'answered', peer: Peer | undefined): void {
    const pid = peer && this.#findPid(peer, node);
    if (pid === undefined) return;
    const before = this.breaches.length;
    this.#ownershipIntervals.record({ bmc: node.name, pid, event, at: this.#testenv.clock.now() });
    for (const breach of this.breaches.slice(before)) this.#testenv.timeline.note(`BREACH ${breach}`);
    for (const listener of this.#listeners) listener();
  }

  /** Resolved at the first request: its sender waits for the response, so the connection exists. */
  #findPid(peer: Peer, { bmc }: Node): number | undefined {
    const known = this.#pidOf.get(peer);
    if (known !== undefined) return known;
    const [pid] = holdersOf([{ from: peer, to: bmc }], this.#pids()).values();
    if (pid !== undefined) this.#pidOf.set(peer, pid);
    return pid;
  }
}

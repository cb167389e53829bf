import { holdersOf } from '@metal/process/connection-holders.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Peer } from '@metal/simulator/traffic.ts';
import type { Lab } from './lab.ts';
import { type Reign, Reigns } from './reigns.ts';

/** Notes which process talks to each BMC, by looking at whose connection a request comes over; see `Reigns`. */
export class BmcOwners implements Disposable {
  readonly #lab: Lab;
  readonly #pids: () => Iterable<number>;
  readonly #reigns = new Reigns((pid) => new Set(this.#pids()).has(pid));
  readonly #pidOf = new WeakMap<Peer, number>();
  readonly #listeners = new Set<() => void>();
  readonly #subscriptions: Disposable[];

  constructor(lab: Lab, nodes: readonly Node[], pids: () => Iterable<number>) {
    this.#lab = lab;
    this.#pids = pids;
    this.#subscriptions = nodes.map((node) =>
      node.bmc.traffic.onRequest((moment, peer) => this.#heard(node, moment, peer)),
    );
  }

  /** Of the promise that one process at a time talks to a BMC: in words, in order. */
  get breaches(): readonly string[] {
    return this.#reigns.breaches;
  }

  /** In the order in which they talked to the BMC. */
  reignsAt({ name }: Node): readonly Reign[] {
    return this.#reigns.at(name);
  }

  /** Who talked to the BMC last. */
  ownerOf({ name }: Node): number | undefined {
    return this.#reigns.ownerOf(name);
  }

  /** Called after each request. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  #heard(node: Node, moment: 'arrived' | 'answered', peer: Peer | undefined): void {
    const pid = peer && this.#pidBehind(peer, node);
    if (pid === undefined) return;
    const before = this.breaches.length;
    this.#reigns.hear({ bmc: node.name, pid, moment, at: this.#lab.clock.now() });
    for (const words of this.breaches.slice(before)) this.#lab.timeline.note(`BREACH ${words}`);
    for (const listener of this.#listeners) listener();
  }

  /** Looked up at the first request: whoever sent it waits for the answer, so the connection is there. */
  #pidBehind(peer: Peer, { bmc }: Node): number | undefined {
    const known = this.#pidOf.get(peer);
    if (known !== undefined) return known;
    const [pid] = holdersOf([{ from: peer, to: bmc }], this.#pids()).values();
    if (pid !== undefined) this.#pidOf.set(peer, pid);
    return pid;
  }
}

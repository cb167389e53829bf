import type { Fleet } from './fleet.ts';
import type { Peer } from './traffic.ts';

/** Nobody who asks now and then ever comes near it. */
const maxEvents = 2_000_000;

/** A connection to a BMC, as whoever opened it sees it. */
export interface JournalConnection {
  readonly id: number;
  readonly node: string;
  readonly from: { readonly address: string; readonly port: number };
  readonly to: { readonly address: string; readonly port: number };
}

/** A request came in or was answered: milliseconds since the Unix epoch, the connection, and which of the two. */
export type JournalEvent = readonly [at: number, connection: number, kind: 'arrived' | 'answered'];

export interface JournalPage {
  /** Those of the moments that no earlier page had. */
  readonly connections: readonly JournalConnection[];
  readonly events: readonly JournalEvent[];
  /** Moments that had no place any more, since nobody asked for a page. */
  readonly lost: number;
}

/** Who asked which BMC when, by connection, kept until it is asked for. BMCs that come after it has begun are not in it. */
export class Journal {
  readonly #now: () => number;
  readonly #ids = new WeakMap<Peer, number>();
  #connections: JournalConnection[] = [];
  #events: JournalEvent[] = [];
  #lost = 0;
  #lastId = 0;

  constructor(fleet: Fleet, now: () => number) {
    this.#now = now;
    for (const { name, bmc } of fleet.nodes)
      bmc.traffic.onRequest((kind, peer) => {
        if (peer !== undefined) this.#write(kind, this.#idOf(peer, { node: name, to: bmc }));
      });
  }

  /** What was written since the last page. */
  takePage(): JournalPage {
    const page = { connections: this.#connections, events: this.#events, lost: this.#lost };
    this.#connections = [];
    this.#events = [];
    this.#lost = 0;
    return page;
  }

  #write(kind: 'arrived' | 'answered', connection: number): void {
    if (this.#events.length < maxEvents) this.#events.push([this.#now(), connection, kind]);
    else this.#lost += 1;
  }

  #idOf(peer: Peer, { node, to }: Pick<JournalConnection, 'node' | 'to'>): number {
    const known = this.#ids.get(peer);
    if (known !== undefined) return known;
    this.#lastId += 1;
    this.#ids.set(peer, this.#lastId);
    const { address, port } = peer;
    this.#connections.push({
      id: this.#lastId,
      node,
      from: { address, port },
      to: { address: to.address, port: to.port },
    });
    return this.#lastId;
  }
}

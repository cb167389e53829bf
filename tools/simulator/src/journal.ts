import type { Fleet } from './fleet.ts';
import type { Peer } from './traffic.ts';

/** Far more than collects between two pages of a regular reader. */
const maxEvents = 2_000_000;

/** A connection to a BMC, from the view of its client. */
export interface JournalConnection {
  readonly id: number;
  readonly node: string;
  readonly from: { readonly address: string; readonly port: number };
  readonly to: { readonly address: string; readonly port: number };
}

/** The arrival or the answer of a request: milliseconds since the Unix epoch, the connection, and the kind. */
export type JournalEvent = readonly [at: number, connection: number, kind: 'arrived' | 'answered'];

export interface JournalPage {
  /** The connections that no earlier page contained. */
  readonly connections: readonly JournalConnection[];
  readonly events: readonly JournalEvent[];
  /** Entries that were dropped because no page was read. */
  readonly lost: number;
}

/** The requests to each BMC by connection and time, kept until a page is read. BMCs added after the start are not included. */
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

  /** The entries since the last page. */
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

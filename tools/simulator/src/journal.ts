import type { Fleet } from './fleet.ts';
import type { Peer } from './traffic.ts';

/** Nobody who asks now and then ever comes near it. */
const mostMoments = 2_000_000;

/** A connection to a BMC, as whoever opened it sees it. */
export interface JournalConnection {
  readonly id: number;
  readonly node: string;
  readonly from: { readonly address: string; readonly port: number };
  readonly to: { readonly address: string; readonly port: number };
}

/** A request came in or was answered: milliseconds since the Unix epoch, the connection, and which of the two. */
export type JournalMoment = readonly [at: number, connection: number, what: 'arrived' | 'answered'];

export interface JournalPage {
  /** Those of the moments that no earlier page had. */
  readonly connections: readonly JournalConnection[];
  readonly moments: readonly JournalMoment[];
  /** Moments that had no place any more, since nobody asked for a page. */
  readonly lost: number;
}

/** Who asked which BMC when, by connection, kept until it is asked for. BMCs that come after it has begun are not in it. */
export class Journal {
  readonly #now: () => number;
  readonly #ids = new WeakMap<Peer, number>();
  #connections: JournalConnection[] = [];
  #moments: JournalMoment[] = [];
  #lost = 0;
  #known = 0;

  constructor(fleet: Fleet, now: () => number) {
    this.#now = now;
    for (const { name, bmc } of fleet.nodes)
      bmc.traffic.onRequest((what, peer) => {
        if (peer !== undefined) this.#write(what, this.#idOf(peer, { node: name, to: bmc }));
      });
  }

  /** What was written since the last page. */
  tearOff(): JournalPage {
    const page = { connections: this.#connections, moments: this.#moments, lost: this.#lost };
    this.#connections = [];
    this.#moments = [];
    this.#lost = 0;
    return page;
  }

  #write(what: 'arrived' | 'answered', connection: number): void {
    if (this.#moments.length < mostMoments) this.#moments.push([this.#now(), connection, what]);
    else this.#lost += 1;
  }

  #idOf(peer: Peer, { node, to }: Pick<JournalConnection, 'node' | 'to'>): number {
    const known = this.#ids.get(peer);
    if (known !== undefined) return known;
    this.#known += 1;
    this.#ids.set(peer, this.#known);
    const { address, port } = peer;
    this.#connections.push({
      id: this.#known,
      node,
      from: { address, port },
      to: { address: to.address, port: to.port },
    });
    return this.#known;
  }
}

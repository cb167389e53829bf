/** One request a BMC received. */
export interface RequestRecord {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** The path without identifiers. */
  readonly route: string;
  /** 0 when the request was not answered. */
  readonly status: number;
  /** Identifies a client: port of the peer and identifier of the session. */
  readonly client: string;
}

/** A connection that a client opened. */
export interface Peer {
  readonly address: string;
  readonly port: number;
  readonly openedAt: number;
  requests: number;
  /** Identifiers of the sessions used on it. */
  readonly sessions: Set<string>;
}

const maxRecords = 1_000;
const maxPeers = 200;

/** The requests and connections of one BMC. The oldest entries are dropped. */
export class Traffic {
  readonly requests: RequestRecord[] = [];
  readonly byRoute = new Map<string, number>();
  readonly peers: Peer[] = [];
  total = 0;
  inFlight = 0;
  /** The highest number of concurrent requests. */
  peakInFlight = 0;
  readonly #listeners = new Set<(event: 'arrived' | 'answered', peer: Peer | undefined) => void>();

  /** Called when a request arrives, before it is handled, and again when it is answered. */
  onRequest(listener: (event: 'arrived' | 'answered', peer: Peer | undefined) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  arrive(peer: Peer | undefined): void {
    if (peer !== undefined) peer.requests += 1;
    this.inFlight += 1;
    this.peakInFlight = Math.max(this.peakInFlight, this.inFlight);
    for (const listener of this.#listeners) listener('arrived', peer);
  }

  leave(): void {
    this.inFlight -= 1;
  }

  record(record: RequestRecord, peer?: Peer): void {
    const key = `${record.method} ${record.route}`;
    this.total += 1;
    this.byRoute.set(key, (this.byRoute.get(key) ?? 0) + 1);
    this.requests.push(record);
    if (this.requests.length > maxRecords) this.requests.splice(0, maxRecords / 2);
    for (const listener of this.#listeners) listener('answered', peer);
  }

  connect(peer: Peer): void {
    this.peers.push(peer);
    if (this.peers.length > maxPeers) this.peers.splice(0, maxPeers / 2);
  }
}

const collections =
  /\/(Systems|Managers|Chassis|Processors|Memory|EthernetInterfaces|Storage|SimpleStorage|Drives|Volumes|BootOptions|Sessions|Accounts|Roles|Subscriptions|Tasks|TaskMonitors|Jobs|FirmwareInventory)\/[^/]+/g;

/** `/redfish/v1/Systems/1/Memory/DIMM3` → `/redfish/v1/Systems/{id}/Memory/{id}`. */
export const routeOf = (path: string): string => path.replace(collections, '/$1/{id}');

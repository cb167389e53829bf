import type { Socket } from 'node:net';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { clientOf } from './client-of.ts';

/** A connection without a request for this long, or that read fewer bytes than that during it, is stalled. */
const stalledMs = 10_000;
const leastBytes = 16_384;
/** The interval between two scans of all connections. */
const scanIntervalMs = 1_000;

/** The connections of one address. */
interface Client {
  readonly address: string;
  /** Without a request, the longest first, with the time since when. */
  readonly idle: Map<Socket, number>;
  /** With a request: the bytes written at the last progress, and its time. */
  readonly busy: Map<Socket, { bytes: number; at: number }>;
}

/**
 * Connections by client, and the choice of the ones to close when there are too many. A connection of a client with fewer
 * connections than that of the new one is closed only if it is stalled:
 *
 *   the longest idle one of the client with the most connections
 *     ─►  all that are stalled, of any client
 *     ─►  the slowest of the client with the most connections
 *     ─►  else the new one
 *
 * The number of connections per client has no limit of its own, as many machines may share an address.
 */
export class ConnectionTable {
  readonly #clock: Clock;
  readonly #clients = new Map<string, Client>();
  readonly #clientOf = new Map<Socket, Client>();
  #scannedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#clientOf.size;
  }

  add(socket: Socket): void {
    const address = clientOf(socket.remoteAddress ?? '');
    const client = this.#clients.get(address) ?? { address, idle: new Map(), busy: new Map() };
    client.idle.set(socket, this.#clock.now());
    this.#clients.set(address, client);
    this.#clientOf.set(socket, client);
  }

  remove(socket: Socket): void {
    const client = this.#clientOf.get(socket);
    if (client === undefined) return;
    this.#clientOf.delete(socket);
    client.idle.delete(socket);
    client.busy.delete(socket);
    if (sizeOf(client) === 0) this.#clients.delete(client.address);
  }

  /** False if a request is already running. */
  startRequest(socket: Socket): boolean {
    const client = this.#clientOf.get(socket);
    if (client?.idle.delete(socket) !== true) return false;
    client.busy.set(socket, { bytes: socket.bytesWritten, at: this.#clock.now() });
    return true;
  }

  endRequest(socket: Socket): void {
    const client = this.#clientOf.get(socket);
    if (client?.busy.delete(socket) === true) client.idle.set(socket, this.#clock.now());
  }

  /** The connections to close for the new one, or the new one itself. */
  selectVictims(newcomer: Socket): readonly Socket[] {
    const own = sizeOf(this.#clientOf.get(newcomer));
    const idleClient = this.#largest((client) => longestIdle(client, newcomer) !== undefined);
    const longest = idleClient && longestIdle(idleClient, newcomer);
    if (longest !== undefined && sizeOf(idleClient) >= own) return [longest];
    const stalled = this.#stalled();
    if (stalled.length > 0) return stalled;
    const largest = this.#largest(({ busy }) => busy.size > 0);
    const slowest = largest && slowestBusy(largest);
    return [slowest !== undefined && sizeOf(largest) > own ? slowest : newcomer];
  }

  #largest(counts: (client: Client) => boolean): Client | undefined {
    let largest: Client | undefined;
    for (const client of this.#clients.values())
      if (sizeOf(client) > sizeOf(largest) && counts(client)) largest = client;
    return largest;
  }

  #stalled(): Socket[] {
    const now = this.#clock.now();
    if (now - this.#scannedAt < scanIntervalMs) return [];
    this.#scannedAt = now;
    return [...this.#clients.values()].flatMap(({ idle, busy }) => {
      for (const [socket, { bytes }] of busy)
        if (socket.bytesWritten - bytes >= leastBytes) busy.set(socket, { bytes: socket.bytesWritten, at: now });
      const since = [...idle, ...[...busy].map(([socket, { at }]) => [socket, at] as const)];
      return since.filter(([, at]) => now - at >= stalledMs).map(([socket]) => socket);
    });
  }
}

const sizeOf = (client: Client | undefined): number => (client === undefined ? 0 : client.idle.size + client.busy.size);

function longestIdle({ idle }: Client, except: Socket): Socket | undefined {
  for (const socket of idle.keys()) if (socket !== except) return socket;
  return undefined;
}

/** Of several the one that started last, as it loses the least. */
function slowestBusy({ busy }: Client): Socket | undefined {
  let slowest: Socket | undefined;
  let slowestAt = Number.POSITIVE_INFINITY;
  for (const [socket, { at }] of busy) if (at <= slowestAt) [slowest, slowestAt] = [socket, at];
  return slowest;
}

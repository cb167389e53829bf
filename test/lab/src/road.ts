import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** open: everything comes through; closed: as if nobody listened; held: connections stand, and nothing comes through. */
type RoadState = 'open' | 'closed' | 'held';

interface Barrier {
  readonly pattern: RegExp;
  readonly state: RoadState;
  readonly reached: () => void;
}

/** The way from machines to a service on this host, on a port of its own. */
export class Road implements AsyncDisposable {
  readonly port: number;
  readonly #entrance: Server;
  readonly #sockets = new Set<Socket>();
  #state: RoadState = 'open';
  #barrier: Barrier | undefined;
  /** Fulfilled while traffic may pass. */
  #gate = Promise.withResolvers<void>();

  private constructor(entrance: Server, port: number, target: number) {
    this.#entrance = entrance;
    this.port = port;
    this.#gate.resolve();
    entrance.on('connection', (client) => void this.#carry(client, target));
  }

  /** The service need not listen yet. */
  static async to(target: number): Promise<Road> {
    const entrance = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(entrance, 'listening');
    const address = entrance.address();
    return new Road(entrance, typeof address === 'object' && address !== null ? address.port : 0, target);
  }

  /** When somebody sends this, it is so from then on; what was sent does not arrive. Resolves at that moment. */
  stopAt(pattern: RegExp, state: Exclude<RoadState, 'open'>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#barrier = { pattern, state, reached: resolve };
    return promise;
  }

  open(): void {
    this.#state = 'open';
    this.#gate.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#entrance.close(resolve));
  }

  async #carry(client: Socket, target: number): Promise<void> {
    if (this.#state === 'closed') return void client.resetAndDestroy();
    const service = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [client, service]) {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    const there = pipeline(client, (sent) => this.#through(sent), service);
    const back = pipeline(service, (sent) => this.#through(sent, { isChecked: false }), client);
    // A connection that breaks on one side breaks on the other.
    await Promise.all([there, back]).catch(() => [client, service].forEach((socket) => socket.destroy()));
  }

  async *#through(sent: AsyncIterable<Buffer>, { isChecked } = { isChecked: true }): AsyncGenerator<Buffer> {
    for await (const chunk of sent) {
      if (isChecked) this.#meet(chunk.toString('latin1'));
      await this.#gate.promise;
      yield chunk;
    }
  }

  #meet(sent: string): void {
    const barrier = this.#barrier;
    if (barrier?.pattern.test(sent) !== true) return;
    this.#barrier = undefined;
    this.#state = barrier.state;
    this.#gate = Promise.withResolvers();
    if (barrier.state === 'closed') for (const socket of this.#sockets) socket.resetAndDestroy();
    barrier.reached();
  }
}

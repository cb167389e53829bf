import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** open: all traffic passes; closed: connections are refused; held: connections are accepted, and no data passes. */
type ProxyState = 'open' | 'closed' | 'held';

interface Barrier {
  readonly pattern: RegExp;
  readonly state: ProxyState;
  readonly reached: () => void;
}

/** A proxy from machines to a service on this host, on a port of its own. */
export class TcpProxy implements AsyncDisposable {
  readonly port: number;
  readonly #proxyServer: Server;
  readonly #sockets = new Set<Socket>();
  #state: ProxyState = 'open';
  #barrier: Barrier | undefined;
  /** Fulfilled while traffic may pass. */
  #gate = Promise.withResolvers<void>();

  private constructor(proxyServer: Server, port: number, target: number) {
    this.#proxyServer = proxyServer;
    this.port = port;
    this.#gate.resolve();
    proxyServer.on('connection', (client) => void this.#forward(client, target));
  }

  /** The service need not listen yet. */
  static async to(target: number): Promise<TcpProxy> {
    const proxyServer = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(proxyServer, 'listening');
    const address = proxyServer.address();
    return new TcpProxy(proxyServer, typeof address === 'object' && address !== null ? address.port : 0, target);
  }

  /** Changes the state when a client sends data that matches, which is not forwarded. Resolves at that time. */
  stopAt(pattern: RegExp, state: Exclude<ProxyState, 'open'>): Promise<void> {
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
    await new Promise((resolve) => this.#proxyServer.close(resolve));
  }

  async #forward(client: Socket, target: number): Promise<void> {
    if (this.#state === 'closed') return void client.resetAndDestroy();
    const service = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [client, service]) {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    const upstream = pipeline(client, (data) => this.#passThrough(data), service);
    const downstream = pipeline(service, (data) => this.#passThrough(data, { isChecked: false }), client);
    // A connection that breaks on one side is closed on the other.
    await Promise.all([upstream, downstream]).catch(() => [client, service].forEach((socket) => socket.destroy()));
  }

  async *#passThrough(data: AsyncIterable<Buffer>, { isChecked } = { isChecked: true }): AsyncGenerator<Buffer> {
    for await (const chunk of data) {
      if (isChecked) this.#checkBarrier(chunk.toString('latin1'));
      await this.#gate.promise;
      yield chunk;
    }
  }

  #checkBarrier(data: string): void {
    const barrier = this.#barrier;
    if (barrier?.pattern.test(data) !== true) return;
    this.#barrier = undefined;
    this.#state = barrier.state;
    this.#gate = Promise.withResolvers();
    if (barrier.state === 'closed') for (const socket of this.#sockets) socket.resetAndDestroy();
    barrier.reached();
  }
}

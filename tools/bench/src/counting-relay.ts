import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy that counts the bytes from the server. */
export class CountingRelay implements AsyncDisposable {
  /** Host and port. */
  readonly host: string;
  #bytes = 0;
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(listener: Server, to: string) {
    const { port } = listener.address() as AddressInfo; // it listens on a port
    this.host = `127.0.0.1:${port}`;
    this.#listener = listener.on('connection', (socket) => this.#forward(socket, new URL(`http://${to}`)));
  }

  static async open(to: string): Promise<CountingRelay> {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new CountingRelay(listener, to);
  }

  get bytes(): number {
    return this.#bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#listener.close(resolve));
  }

  #forward(client: Socket, { hostname, port }: URL): void {
    const server = connect(Number(port), hostname).on('data', ({ length }) => (this.#bytes += length));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => this.#sockets.delete(one));
      one.pipe(other);
    }
  }
}

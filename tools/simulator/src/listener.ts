import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { listenError } from './errors.ts';

export interface TlsIdentity {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface ListenerOptions {
  readonly address: string;
  /** Without one it speaks plain HTTP. */
  readonly identity: TlsIdentity | undefined;
  readonly handle: RequestListener;
  readonly onConnection: (socket: Socket) => void;
}

/** Idle connections stay open longer than any client keeps them, so that no request meets a closing socket. */
const keepAliveMs = 300_000;

/** The listening socket of one BMC, which can be closed and opened again at the same address. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #sockets = new Set<Socket>();
  #identity: TlsIdentity | undefined;
  #server: Server | HttpsServer | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#identity = options.identity;
  }

  get isOpen(): boolean {
    return this.#server !== undefined;
  }

  /** @returns the port; 0 takes a free one. @throws FleetError when it cannot be had. */
  async open(port: number): Promise<number> {
    const server = this.#create();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, this.#options.address, resolve);
    }).catch((error: unknown) => {
      throw listenError(this.#options.address, port, error);
    });
    this.#server = server;
    const bound = server.address();
    return typeof bound === 'object' && bound !== null ? bound.port : port;
  }

  /** Connections are refused from now on, and those that exist are cut. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    this.cut();
    await closed;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Shows another certificate; clients have to shake hands again. */
  identify(identity: TlsIdentity): void {
    this.#identity = identity;
    const server = this.#server;
    if (server !== undefined && 'setSecureContext' in server) {
      server.setSecureContext({ cert: identity.certificatePem, key: identity.keyPem });
    }
    this.cut();
  }

  #create(): Server | HttpsServer {
    const { handle, onConnection } = this.#options;
    // Node checks the connections of each server on a timer; thousands of servers would be thousands of timers.
    const options = {
      keepAliveTimeout: keepAliveMs,
      requestTimeout: 0,
      headersTimeout: 0,
      connectionsCheckingInterval: 86_400_000,
    };
    const identity = this.#identity;
    const server =
      identity === undefined
        ? createHttpServer(options, handle)
        : createHttpsServer({ ...options, cert: identity.certificatePem, key: identity.keyPem }, handle);
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      onConnection(socket);
    });
    return server;
  }
}

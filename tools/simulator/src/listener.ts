import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listenError } from './errors.ts';

export interface TlsIdentity {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface ListenerOptions {
  readonly address: string;
  /** Plain HTTP without one. */
  readonly identity: TlsIdentity | undefined;
  readonly handle: RequestListener;
  readonly onConnection: (socket: Socket) => void;
}

/** Idle connections stay open longer than clients keep them, so that no request is sent on a closing socket. */
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

  /** @returns the port; 0 takes a free one. @throws FleetError when the port is not available. */
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

  /** Refuses connections from now on, and closes existing ones. */
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

  /** Presents another certificate; existing connections are closed. */
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
    // Node checks the connections of each server with a timer, which thousands of servers would multiply.
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
    server.on('clientError', answerMalformed);
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      onConnection(socket);
    });
    return server;
  }
}

/** Answers a request that Node cannot parse: an unknown method with 501, as DSP0266 requires, others with 400. */
function answerMalformed(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code?.startsWith('HPE_') !== true) return void socket.destroy();
  const status = error.code === 'HPE_INVALID_METHOD' ? '501 Not Implemented' : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

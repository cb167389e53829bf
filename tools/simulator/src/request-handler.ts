import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { dispatchRequest } from './dispatch-request.ts';
import type { BmcState } from './bmc-state.ts';
import type { Clock } from './clock.ts';
import { failure, type Reply } from './replies.ts';
import { receivePush } from './pushed-image.ts';
import { readJson, readWhole } from './request-body.ts';
import { isPush } from './update-service.ts';
import { type Peer, routeOf } from './traffic.ts';

const dripBytes = 64;

/** Reads requests and writes responses of a BMC, with its latency and its faults. */
export class RequestHandler {
  readonly #bmc: BmcState;
  readonly #clock: Clock;
  readonly #latencyMs: number;
  readonly #waiting = new Set<() => void>();

  constructor(bmc: BmcState, clock: Clock, latencyMs: number) {
    this.#bmc = bmc;
    this.#clock = clock;
    this.#latencyMs = latencyMs;
  }

  recordConnection({ remoteAddress = '', remotePort = 0 }: Socket): void {
    const openedAt = this.#clock.now();
    this.#bmc.traffic.connect({ address: remoteAddress, port: remotePort, openedAt, requests: 0, sessions: new Set() });
  }

  /** Answers the requests that were held back. */
  resume(): void {
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }

  /** Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const path = pathOf(url);
    const peer = this.#peerOf(request.socket);
    this.#bmc.traffic.arrive(peer);
    const client = this.#clientOf(request, peer);
    let status = 0;
    try {
      const body = await this.#bodyOf(request, path);
      await this.#delay(path, response);
      if (response.destroyed) return;
      if (this.#bmc.board.consume('cutsConnections', path)) return void request.socket.destroy();
      const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
      const correctReply = await dispatchRequest(this.#bmc, {
        method,
        path,
        query,
        headers: request.headers,
        body,
        client,
      });
      const reply = this.#applyWriteFault(correctReply, { method, path });
      if (reply === undefined) return void request.socket.destroy();
      status = reply.status;
      if (reply.afterwards !== undefined) response.once('finish', reply.afterwards);
      await this.#write(reply, path, method, response);
    } catch {
      response.destroy();
    } finally {
      this.#bmc.traffic.leave();
      this.#bmc.traffic.record({ at: this.#clock.now(), method, path, route: routeOf(path), status, client }, peer);
    }
  }

  /** Parsed JSON, or an image. */
  async #bodyOf(request: IncomingMessage, path: string): Promise<unknown> {
    const { firmware } = this.#bmc.profile;
    if (firmware !== undefined && request.method === 'POST' && isPush(this.#bmc, path))
      return receivePush(request, firmware.maxImageBytes);
    return readJson(await readWhole(request));
  }

  /** The response to a write that was carried out; undefined when it is lost. */
  #applyWriteFault(reply: Reply, { method, path }: { method: string; path: string }): Reply | undefined {
    if (method === 'GET' || method === 'HEAD' || path.includes('/Sessions')) return reply;
    const status = this.#bmc.board.consume('failsWriteResponses', path);
    if (status === undefined) return reply;
    return status === 0 ? undefined : failure(status, 'GeneralError', 'Something went wrong.');
  }

  /** Applies the latency, then the fault `hang`. */
  async #delay(path: string, response: ServerResponse): Promise<void> {
    const { board } = this.#bmc;
    const delayMs = this.#latencyMs + board.consume('latencyMs', path);
    if (delayMs > 0) await this.#clock.sleep(delayMs);
    if (!board.consume('hang', path)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    response.once('close', resolve);
    await promise.finally(() => this.#waiting.delete(resolve));
  }

  async #write(reply: Reply, path: string, method: string, response: ServerResponse): Promise<void> {
    const { board, profile } = this.#bmc;
    if (board.consume('answersGarbage', path)) {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Welcome</body></html>');
      return;
    }
    const text = reply.text ?? (reply.body === undefined ? '' : JSON.stringify(reply.body));
    const bytes = Buffer.from(board.consume('truncates', path) ? text.slice(0, Math.floor(text.length / 2)) : text);
    const isEmpty = reply.status === 204 || reply.status === 304;
    response.writeHead(reply.status, {
      'odata-version': '4.0',
      ...(isEmpty ? {} : { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length }),
      ...(profile.keepAlive ? {} : { connection: 'close' }),
      ...reply.headers,
    });
    const pauseMs = board.consume('dripMs', path);
    if (method === 'HEAD' || isEmpty) response.end();
    else if (pauseMs > 0) await this.#drip(bytes, pauseMs, response);
    else response.end(bytes);
  }

  async #drip(bytes: Buffer, pauseMs: number, response: ServerResponse): Promise<void> {
    for (let at = 0; at < bytes.length && !response.destroyed; at += dripBytes) {
      response.write(bytes.subarray(at, at + dripBytes));
      await this.#clock.sleep(pauseMs);
    }
    response.end();
  }

  /** By port: over TLS the socket of a request is not the one that was accepted. */
  #peerOf({ remotePort }: Socket): Peer | undefined {
    return this.#bmc.traffic.peers.findLast(({ port }) => port === remotePort);
  }

  #clientOf({ socket, headers }: IncomingMessage, peer: Peer | undefined): string {
    const token = headers['x-auth-token'];
    const session = typeof token === 'string' ? this.#bmc.access.sessionOf(token) : undefined;
    if (session !== undefined) peer?.sessions.add(session.id);
    return `${socket.remotePort ?? 0}/${session?.id ?? (headers.authorization === undefined ? '' : 'basic')}`;
  }
}

/** Without the query and the trailing slash. */
function pathOf(url: string): string {
  const path = (url.split('?', 1)[0] ?? url).replace(/(?<=.)\/$/, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

import { hash, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Access, type Session } from './access.ts';
import type { Clock } from './clock.ts';
import { expanded, expansionIn } from './expand.ts';
import { FaultBoard, type FaultLimit, type Faults } from './faults.ts';
import { root } from './links.ts';
import { Listener, type TlsIdentity } from './listener.ts';
import type { Machine } from './machine.ts';
import type { VendorProfile } from './profiles.ts';
import { failure, missing, type Reply, type Resource } from './replies.ts';
import { readJson, readWhole } from './request-body.ts';
import { resourceAt } from './resources.ts';
import { type Peer, type RequestRecord, routeOf, Traffic } from './traffic.ts';
import { logIn, patch, post, remove } from './writes.ts';

export interface BmcOptions {
  readonly profile: VendorProfile;
  /** The systems behind it, at least one. */
  readonly machines: readonly [Machine, ...Machine[]];
  readonly address: string;
  readonly macAddress: string;
  readonly managerUuid: string;
  readonly username: string;
  readonly password: string;
  readonly clock: Clock;
  readonly latencyMs: number;
  /** How long a restart of the BMC itself takes. */
  readonly restartMs: number;
  /** Certificate and key; without them the BMC speaks plain HTTP. */
  readonly identity: TlsIdentity | undefined;
  /** What it shows while its certificate is not to be trusted. */
  readonly strangeIdentity: (() => Promise<TlsIdentity>) | undefined;
}

/**
 * A management controller on its own loopback address, speaking Redfish over real HTTP. Faults are verbs; without a
 * limit they last until `heal`.
 */
export class SimulatedBmc {
  readonly profile: VendorProfile;
  readonly machines: readonly [Machine, ...Machine[]];
  readonly address: string;
  readonly macAddress: string;
  readonly managerUuid: string;
  /** Undefined when it speaks plain HTTP. */
  readonly identity: TlsIdentity | undefined;
  readonly access: Access;
  readonly board: FaultBoard;
  readonly traffic = new Traffic();
  readonly subscriptions = new Map<string, Record<string, unknown>>();
  sessionsOffered: boolean;
  /** Milliseconds since the Unix epoch. */
  restartedAt: number;
  readonly #options: BmcOptions;
  readonly #listener: Listener;
  readonly #peers = new WeakMap<object, Peer>();
  readonly #waiting = new Set<() => void>();
  #subscriptionCount = 0;
  #port = 0;
  #isClosed = false;

  constructor(options: BmcOptions) {
    const { profile, clock, username, password, address, identity } = options;
    this.#options = options;
    this.profile = profile;
    this.machines = options.machines;
    this.address = address;
    this.macAddress = options.macAddress;
    this.managerUuid = options.managerUuid;
    this.identity = identity;
    this.restartedAt = clock.now();
    this.sessionsOffered = profile.sessionCap !== undefined;
    this.access = new Access(clock, profile, { username, password });
    this.board = new FaultBoard(clock, (name) => this.#onFaultEnd(name));
    this.#listener = new Listener({
      address,
      identity,
      handle: (request, response) => void this.#handle(request, response),
      onConnection: (socket) => this.#welcome(socket),
    });
  }

  /** The first of its machines. */
  get machine(): Machine {
    return this.machines[0];
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `${this.identity === undefined ? 'http' : 'https'}://${this.address}:${this.#port}`;
  }

  get username(): string {
    return this.access.accounts[0]?.username ?? '';
  }

  get password(): string {
    return this.access.accounts[0]?.password ?? '';
  }

  /** Somebody changed the password at the BMC. Sessions live on. */
  set password(password: string) {
    const [account] = this.access.accounts;
    if (account !== undefined) account.password = password;
  }

  /** SHA-256 of its certificate, as colon-separated hex; undefined without HTTPS. */
  get fingerprint(): string | undefined {
    return this.identity === undefined ? undefined : new X509Certificate(this.identity.certificatePem).fingerprint256;
  }

  get sessions(): readonly Session[] {
    return this.access.sessions;
  }

  get openSessions(): number {
    return this.access.sessions.length;
  }

  /** Every request, newest last; the oldest are dropped. */
  get requests(): readonly RequestRecord[] {
    return this.traffic.requests;
  }

  /** Connections that were opened, newest last; the oldest are dropped. */
  get peers(): readonly Readonly<Peer>[] {
    return this.traffic.peers;
  }

  get faults(): Readonly<Faults> {
    return this.board.current;
  }

  /** Listens on its address. Port 0 takes a free one. */
  async listen(port: number): Promise<number> {
    this.#port = await this.#listener.open(port);
    return this.#port;
  }

  /** For good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.board.endAll();
    this.#release();
    await this.#listener.close();
  }

  /** Any faults at once, but for those that change the socket; these are verbs of their own. */
  set(faults: Partial<Omit<Faults, 'refuses' | 'untrusted'>>, limit: FaultLimit = {}): void {
    this.board.set(faults, limit);
    if (faults.hang === false) this.#release();
  }

  latency(ms: number, limit?: FaultLimit): void {
    this.board.set({ latencyMs: ms }, limit);
  }

  /** Takes requests and leaves them waiting until the fault ends. */
  hang(limit?: FaultLimit): void {
    this.board.set({ hang: true }, limit);
  }

  hangFor(forMs: number): void {
    this.hang({ forMs });
  }

  /** Nothing listens any more: connections are refused. */
  async refuse(limit?: FaultLimit): Promise<void> {
    this.board.set({ refuses: true }, limit);
    await this.#listenOrNot();
  }

  answer(status: number, limit?: FaultLimit): void {
    this.board.set({ status }, limit);
  }

  cutConnections(limit?: FaultLimit): void {
    this.board.set({ cutsConnections: true }, limit);
  }

  /** Sends answers slowly. */
  drip(pauseMs: number, limit?: FaultLimit): void {
    this.board.set({ dripMs: pauseMs }, limit);
  }

  truncate(limit?: FaultLimit): void {
    this.board.set({ truncates: true }, limit);
  }

  talkRubbish(limit?: FaultLimit): void {
    this.board.set({ talksRubbish: true }, limit);
  }

  ignoreOverride(limit?: FaultLimit): void {
    this.board.set({ ignoresOverride: true }, limit);
  }

  /** Resets are accepted and nothing happens. */
  freezePower(limit?: FaultLimit): void {
    this.board.set({ powerNeverChanges: true }, limit);
  }

  ignoreShutdown(limit?: FaultLimit): void {
    this.board.set({ ignoresShutdown: true }, limit);
  }

  /** Reports another UUID; null reports none. */
  reportUuid(uuid: string | null, limit?: FaultLimit): void {
    this.board.set({ uuid }, limit);
  }

  /** Shows a certificate that the fleet's CA has not signed. */
  async showUntrustedCertificate(limit?: FaultLimit): Promise<void> {
    this.board.set({ untrusted: true }, limit);
    await this.#identify();
  }

  /** Every session is forgotten, as after a restart of the BMC. */
  dropSessions(): void {
    this.access.dropSessions();
  }

  /** Every connection is cut once, as by a firewall that lost its state. */
  dropConnections(): void {
    this.#listener.cut();
  }

  /** The BMC itself restarts: away for a while, sessions gone, the machines untouched. */
  restart(): void {
    const { clock, restartMs } = this.#options;
    // The answer to the request that asked for it still goes out.
    clock.setTimeout(Math.min(100, restartMs), () => {
      if (this.#isClosed) return;
      this.dropSessions();
      this.restartedAt = clock.now() + restartMs;
      void this.refuse({ forMs: restartMs });
    });
  }

  /** No fault is left, and it listens again. */
  async heal(): Promise<void> {
    this.board.endAll();
    this.#release();
    await this.#listenOrNot();
    if (this.identity !== undefined) await this.#identify();
  }

  /** What the system says its UUID is. */
  uuidOf(machine: Machine): string | null {
    const told = this.board.meet('uuid', `${root}/Systems/${machine.systemId}`);
    return told === undefined ? machine.hardware.uuid : told;
  }

  addSubscription(subscription: Record<string, unknown>): string {
    this.#subscriptionCount += 1;
    const id = String(this.#subscriptionCount);
    this.subscriptions.set(id, subscription);
    return id;
  }

  #onFaultEnd(name: keyof Faults): void {
    if (name === 'hang') this.#release();
    if (name === 'refuses') this.#listenOrNot().catch(() => undefined);
    if (name === 'untrusted') this.#identify().catch(() => undefined);
  }

  #release(): void {
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }

  #listening: Promise<void> = Promise.resolve();

  /** Brings the socket to where the faults want it; one change after the other. */
  #listenOrNot(): Promise<void> {
    const next = this.#listening.then(async () => {
      const wanted = !this.#isClosed && !this.faults.refuses;
      if (wanted && !this.#listener.isOpen && this.#port !== 0) await this.#listener.open(this.#port);
      else if (!wanted) await this.#listener.close();
    });
    this.#listening = next.catch(() => undefined);
    return next;
  }

  async #identify(): Promise<void> {
    const { identity, strangeIdentity } = this.#options;
    if (identity === undefined || strangeIdentity === undefined || this.#isClosed) return;
    this.#listener.identify(this.faults.untrusted ? await strangeIdentity() : identity);
  }

  #welcome(socket: Socket): void {
    const peer: Peer = {
      address: socket.remoteAddress ?? '',
      port: socket.remotePort ?? 0,
      openedAt: this.#options.clock.now(),
      requests: 0,
      sessions: new Set(),
    };
    this.traffic.connect(peer);
    this.#peers.set(socket, peer);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const path = pathOf(url);
    this.traffic.arrive(this.#peers.get(request.socket) ?? this.#peerByPort(request.socket));
    let status = 0;
    try {
      const body = readJson(await readWhole(request));
      await this.#dawdle(path, response);
      if (response.destroyed) return;
      if (this.board.meet('cutsConnections', path)) return void request.socket.destroy();
      const reply = this.#answer({ method, path, url, body, request });
      status = reply.status;
      await this.#write(path, method, reply, response);
    } catch {
      response.destroy();
    } finally {
      this.traffic.leave();
      this.traffic.record({
        at: this.#options.clock.now(),
        method,
        path,
        route: routeOf(path),
        status,
        client: this.#clientOf(request),
      });
    }
  }

  /** Latency, then the fault that never answers. */
  async #dawdle(path: string, response: ServerResponse): Promise<void> {
    const { clock, latencyMs } = this.#options;
    const delayMs = latencyMs + this.board.meet('latencyMs', path);
    if (delayMs > 0) await clock.sleep(delayMs);
    if (!this.board.meet('hang', path)) return;
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      response.once('close', resolve);
    });
  }

  #answer({
    method,
    path,
    url,
    body,
    request,
  }: {
    method: string;
    path: string;
    url: string;
    body: unknown;
    request: IncomingMessage;
  }): Reply {
    const status = this.board.meet('status', path);
    if (status !== undefined)
      return failure(
        status,
        status === 503 ? 'ServiceTemporarilyUnavailable' : 'GeneralError',
        `simulated failure ${status}`,
      );
    if (body instanceof Error) return failure(400, 'MalformedJSON', body.message);
    const write = { path, body, client: this.#clientOf(request) };
    const isOpen = path === root || path === '/redfish';
    if (
      method === 'POST' &&
      (path === `${root}/SessionService/Sessions` || path === `${root}/SessionService/Sessions/Members`)
    )
      return logIn(this, write);
    if (!isOpen && !this.#isAdmitted(request))
      return failure(401, 'NoValidSession', 'there is no valid session, and no valid user name and password');
    switch (method) {
      case 'GET':
      case 'HEAD':
        return this.#get(path, new URLSearchParams(url.split('?', 2)[1] ?? ''), request.headers['if-none-match']);
      case 'PATCH':
        return this.#unlessChanged(path, request.headers['if-match']) ?? patch(this, write);
      case 'POST':
        return post(this, write);
      case 'DELETE':
        return remove(this, write);
      default:
        return failure(405, 'OperationNotAllowed', `${method} is not possible`);
    }
  }

  #isAdmitted(request: IncomingMessage): boolean {
    const { 'x-auth-token': token, authorization } = request.headers;
    if (typeof token !== 'string')
      return authorization !== undefined && this.access.admitBasic(authorization) !== undefined;
    const session = this.access.useSession(token);
    if (session !== undefined)
      (this.#peers.get(request.socket) ?? this.#peerByPort(request.socket))?.sessions.add(session.id);
    return session !== undefined;
  }

  #get(path: string, query: URLSearchParams, ifNoneMatch: string | undefined): Reply {
    const resource = resourceAt(this, path);
    if (resource === undefined) return missing(path);
    const expansion = expansionIn(query);
    if (expansion !== undefined && !this.profile.expand)
      return failure(501, 'QueryNotSupported', '$expand is not supported');
    if (expansion === 'invalid')
      return failure(400, 'QueryNotSupported', '$expand must be . or * or ~, and ($levels=n)');
    const page = this.#page(resource, path, query);
    const etag = etagOf(resource);
    if (ifNoneMatch === etag) return { status: 304, headers: { etag } };
    const body = expansion === undefined ? page : expanded(page, expansion, (link) => resourceAt(this, link));
    return { status: 200, body: { '@odata.etag': etag, ...body }, headers: { etag } };
  }

  #page(resource: Resource, path: string, query: URLSearchParams): Resource {
    const { pageSize } = this.profile;
    const { Members: members } = resource;
    if (pageSize === undefined || !Array.isArray(members)) return resource;
    const start = Number(query.get('$skip') ?? 0);
    const end = start + pageSize;
    const next = new URLSearchParams([...query].filter(([name]) => name !== '$skip'));
    next.set('$skip', String(end));
    const link =
      end < members.length ? { 'Members@odata.nextLink': `${path}?${decodeURIComponent(next.toString())}` } : {};
    return { ...resource, Members: members.slice(start, end), ...link };
  }

  #unlessChanged(path: string, ifMatch: string | undefined): Reply | undefined {
    if (ifMatch === undefined || ifMatch === '*') return undefined;
    const resource = resourceAt(this, path);
    return resource === undefined || ifMatch === etagOf(resource)
      ? undefined
      : failure(412, 'PreconditionFailed', 'the resource has changed');
  }

  async #write(
    path: string,
    method: string,
    { status, body, headers = {} }: Reply,
    response: ServerResponse,
  ): Promise<void> {
    if (this.board.meet('talksRubbish', path)) {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<html><body>Welcome to the appliance</body></html>');
      return;
    }
    const text = body === undefined ? '' : JSON.stringify(body);
    const common = {
      'content-type': 'application/json; charset=utf-8',
      'odata-version': '4.0',
      ...(this.profile.keepAlive ? {} : { connection: 'close' }),
    };
    const truncated = this.board.meet('truncates', path) ? text.slice(0, Math.floor(text.length / 2)) : text;
    const bytes = Buffer.from(truncated);
    response.writeHead(status, {
      ...common,
      ...(status === 204 || status === 304 ? {} : { 'content-length': bytes.length }),
      ...headers,
    });
    const dripMs = this.board.meet('dripMs', path);
    if (dripMs > 0) await this.#drip(bytes, dripMs, response);
    response.end(method === 'HEAD' || dripMs > 0 ? undefined : bytes);
  }

  async #drip(bytes: Buffer, pauseMs: number, response: ServerResponse): Promise<void> {
    for (let at = 0; at < bytes.length && !response.destroyed; at += 64) {
      response.write(bytes.subarray(at, at + 64));
      await this.#options.clock.sleep(pauseMs);
    }
  }

  /** Over TLS the request's socket is not the one that was accepted. */
  #peerByPort({ remotePort }: Socket): Peer | undefined {
    return this.traffic.peers.findLast(({ port }) => port === remotePort);
  }

  #clientOf({ socket, headers }: IncomingMessage): string {
    const token = headers['x-auth-token'];
    const session = typeof token === 'string' ? this.access.peek(token) : undefined;
    return `${socket.remotePort ?? 0}/${session?.id ?? (headers.authorization === undefined ? '' : 'basic')}`;
  }
}

/** Changes whenever anything a client can see changes. */
const etagOf = (resource: Resource): string => `"${hash('sha1', JSON.stringify(resource), 'hex').slice(0, 16)}"`;

function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? url;
  const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

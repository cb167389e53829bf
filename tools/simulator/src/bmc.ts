import { createHash, randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from './clock.ts';
import { type Faults, noFaults } from './faults.ts';
import type { Machine } from './machine.ts';
import type { VendorProfile } from './profiles.ts';
import { type Resource, resourceAt } from './resources.ts';

export interface BmcOptions {
  readonly profile: VendorProfile;
  readonly machine: Machine;
  readonly address: string;
  readonly macAddress: string;
  readonly managerUuid: string;
  readonly username: string;
  readonly password: string;
  readonly clock: Clock;
  readonly latencyMs: number;
  /** Certificate and key; without them the BMC speaks plain HTTP. */
  readonly tls: { readonly certificatePem: string; readonly keyPem: string } | undefined;
  readonly onRequest: (request: RequestRecord) => void;
}

/** One request a BMC received. `client` tells conversations apart: the peer's port and the session. */
export interface RequestRecord {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly client: string;
}

interface Reply {
  readonly status: number;
  readonly body?: Resource | undefined;
  readonly headers?: Record<string, string>;
}

const sessionLifetimeMs = 1_800_000;
const largestRequestBytes = 1024 * 1024;

/** A management controller on its own loopback address, speaking Redfish over real HTTP. */
export class SimulatedBmc {
  readonly profile: VendorProfile;
  readonly machine: Machine;
  readonly address: string;
  readonly macAddress: string;
  readonly managerUuid: string;
  readonly username: string;
  password: string;
  faults: Faults = noFaults();
  led: 'Off' | 'Lit' | 'Blinking' = 'Off';
  sessionsOffered: boolean;
  /** Every request, newest last; the oldest are dropped. */
  readonly requests: RequestRecord[] = [];
  readonly #options: BmcOptions;
  readonly #sessions = new Map<string, { token: string; usedAt: number }>();
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(options: BmcOptions) {
    this.#options = options;
    this.profile = options.profile;
    this.machine = options.machine;
    this.address = options.address;
    this.macAddress = options.macAddress;
    this.managerUuid = options.managerUuid;
    this.username = options.username;
    this.password = options.password;
    this.sessionsOffered = options.profile.sessionCap !== undefined;
  }

  get port(): number {
    return this.#port;
  }

  get openSessions(): number {
    return this.#sessions.size;
  }

  /** Listens on its address. Port 0 takes a free one. */
  async listen(port: number): Promise<number> {
    const { tls } = this.#options;
    const handle = (request: IncomingMessage, response: ServerResponse) => void this.#handle(request, response);
    const server =
      tls === undefined
        ? createHttpServer(handle)
        : createHttpsServer({ cert: tls.certificatePem, key: tls.keyPem }, handle);
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, this.address, resolve);
    });
    const bound = server.address();
    this.#port = typeof bound === 'object' && bound !== null ? bound.port : port;
    this.#server = server;
    return this.#port;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** Nothing listens any more: connections are refused. */
  async refuse(): Promise<void> {
    await this.close();
  }

  /** Every session is forgotten, as after a reset of the BMC. */
  dropSessions(): void {
    this.#sessions.clear();
  }

  set(faults: Partial<Faults>): void {
    this.faults = { ...this.faults, ...faults };
  }

  /** No fault is left, and it listens again. */
  async heal(): Promise<void> {
    this.faults = noFaults();
    if (this.#server === undefined) await this.listen(this.#port);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const { faults } = this;
    const client = `${request.socket.remotePort ?? 0}/${String(request.headers['x-auth-token'] ?? '').slice(0, 8)}`;
    const record = (status: number) => {
      const entry = { method, path: url.split('?', 1)[0] ?? url, status, client };
      this.requests.push(entry);
      if (this.requests.length > 2_000) this.requests.splice(0, 1_000);
      this.#options.onRequest(entry);
    };
    try {
      const body = await readBody(request);
      const latencyMs = this.#options.latencyMs + faults.latencyMs;
      if (faults.hang) return record(0);
      if (latencyMs > 0) await this.#options.clock.sleep(latencyMs);
      const reply = this.#answer(method, url, request, body);
      record(reply.status);
      this.#write(response, reply);
    } catch {
      response.destroy();
    }
  }

  #write(response: ServerResponse, { status, body, headers = {} }: Reply): void {
    const { truncates, talksRubbish } = this.faults;
    if (talksRubbish) {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<html><body>Welcome to the appliance</body></html>');
      return;
    }
    const text = body === undefined ? '' : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', 'odata-version': '4.0', ...headers });
    response.end(truncates ? text.slice(0, Math.floor(text.length / 2)) : text);
  }

  #answer(method: string, url: string, request: IncomingMessage, body: unknown): Reply {
    const [rawPath = '', query = ''] = url.split('?', 2);
    const path = rawPath.length > 1 ? rawPath.replace(/\/$/, '') : rawPath;
    if (this.faults.status !== undefined) return failure(this.faults.status, 'the BMC has a bad day');
    if (path === '/redfish') return { status: 200, body: { v1: '/redfish/v1/' } };
    if (path === '/redfish/v1' && method === 'GET') return this.#get(path, query);
    if (path === '/redfish/v1/SessionService/Sessions' && method === 'POST') return this.#logIn(body);
    if (!this.#isAdmitted(request)) return failure(401, 'credentials are missing or wrong');
    if (method === 'DELETE') return this.#logOut(path);
    if (method === 'GET') return this.#get(path, query);
    if (method === 'PATCH') return this.#patch(path, body, request.headers['if-match']);
    if (method === 'POST') return this.#post(path, body);
    return failure(405, 'method not allowed');
  }

  #isAdmitted(request: IncomingMessage): boolean {
    const token = request.headers['x-auth-token'];
    if (typeof token === 'string') return this.#useSession(token);
    const { authorization = '' } = request.headers;
    return authorization === `Basic ${Buffer.from(`${this.username}:${this.password}`).toString('base64')}`;
  }

  #useSession(token: string): boolean {
    const now = this.#options.clock.now();
    for (const [id, session] of this.#sessions) {
      if (now - session.usedAt > sessionLifetimeMs) this.#sessions.delete(id);
      else if (session.token === token) {
        session.usedAt = now;
        return true;
      }
    }
    return false;
  }

  #logIn(body: unknown): Reply {
    if (!this.sessionsOffered) return failure(404, 'no such resource');
    if (member(body, 'UserName') !== this.username || member(body, 'Password') !== this.password)
      return failure(401, 'credentials are wrong');
    if (this.#sessions.size >= (this.profile.sessionCap ?? 0))
      return failure(503, 'the maximum number of user sessions is reached');
    const id = randomBytes(4).toString('hex');
    const token = randomBytes(16).toString('hex');
    this.#sessions.set(id, { token, usedAt: this.#options.clock.now() });
    const path = `/redfish/v1/SessionService/Sessions/${id}`;
    return {
      status: 201,
      body: { '@odata.id': path, Id: id, UserName: this.username },
      headers: { 'x-auth-token': token, location: path },
    };
  }

  #logOut(path: string): Reply {
    const id = path.split('/').at(-1) ?? '';
    return this.#sessions.delete(id) ? { status: 204 } : failure(404, 'no such session');
  }

  #get(path: string, query: string): Reply {
    const resource = resourceAt(this, path);
    if (resource === undefined) return failure(404, `${path} does not exist`);
    const body = query.includes('$expand') && this.profile.expand ? this.#expanded(resource) : resource;
    const etag = etagOf(resource);
    return { status: 200, body: { ...body, '@odata.etag': etag }, headers: { etag } };
  }

  #expanded(resource: Resource): Resource {
    if (!Array.isArray(resource.Members)) return resource;
    const members = resource.Members.map((at: { '@odata.id': string }) => resourceAt(this, at['@odata.id']) ?? at);
    return { ...resource, Members: members };
  }

  #patch(path: string, body: unknown, ifMatch: string | undefined): Reply {
    const system = `/redfish/v1/Systems/${this.profile.systemId}`;
    const target = path === `${system}/Settings` && this.profile.bootBySettings ? system : path;
    if (target !== system)
      return failure(resourceAt(this, path) === undefined ? 404 : 405, 'this resource cannot be changed');
    const resource = resourceAt(this, path);
    if (ifMatch !== undefined && ifMatch !== '*' && resource !== undefined && ifMatch !== etagOf(resource))
      return failure(412, 'the resource has changed');
    const boot = member(body, 'Boot');
    if (boot !== undefined && this.profile.bootBySettings && path === system)
      return failure(400, 'boot settings are changed on the settings object');
    return boot === undefined ? this.#patchLed(body) : this.#patchBoot(boot);
  }

  #patchLed(body: unknown): Reply {
    const active = member(body, 'LocationIndicatorActive');
    const light = member(body, 'IndicatorLED');
    if (this.profile.led === 'LocationIndicatorActive' && typeof active === 'boolean')
      this.led = active ? 'Lit' : 'Off';
    else if (this.profile.led === 'IndicatorLED' && (light === 'Lit' || light === 'Off' || light === 'Blinking'))
      this.led = light;
    else return failure(400, 'the property is not known or cannot be changed');
    return { status: 204 };
  }

  #patchBoot(boot: unknown): Reply {
    const { machine, profile, faults } = this;
    const order = member(boot, 'BootOrder');
    const mode = member(boot, 'BootSourceOverrideMode');
    const target = member(boot, 'BootSourceOverrideTarget');
    const enabled = member(boot, 'BootSourceOverrideEnabled');
    if (mode !== undefined && profile.bootMode === undefined)
      return failure(400, 'BootSourceOverrideMode is not a known property');
    if (Array.isArray(order)) machine.bootOrder = order.map(String);
    if (enabled === 'Disabled' || target === 'None') machine.override = undefined;
    else if (typeof target === 'string') {
      if (!['Pxe', 'Hdd', 'Cd', 'UefiHttp', 'BiosSetup'].includes(target))
        return failure(400, `boot target ${target} is not offered`);
      const understood = !profile.wantsModeSpelledOut || mode === 'UEFI';
      machine.override = understood && !faults.ignoresOverride ? target : undefined;
    }
    return { status: 204 };
  }

  #post(path: string, body: unknown): Reply {
    if (path === `/redfish/v1/Systems/${this.profile.systemId}/Actions/ComputerSystem.Reset`)
      return this.#reset(String(member(body, 'ResetType')));
    if (path === `/redfish/v1/Managers/${this.profile.managerId}/Actions/Manager.Reset`) {
      this.dropSessions();
      return { status: 204 };
    }
    return failure(404, `${path} does not exist`);
  }

  #reset(type: string): Reply {
    const { machine, faults } = this;
    if (!this.profile.resetTypes.includes(type)) return failure(400, `reset type ${type} is not offered`);
    if (faults.powerNeverChanges) return { status: 204 };
    const off = machine.power === 'Off' || machine.power === 'PoweringOff';
    if (type === 'On' || type === 'ForceOn') machine.turnOn();
    else if (type === 'ForceOff') machine.cutOff();
    else if (off) return failure(409, `the system is off, ${type} is not possible`);
    else if (type === 'GracefulShutdown' || type === 'PushPowerButton') {
      if (!faults.ignoresShutdown) machine.turnOff();
    } else machine.restart();
    return { status: 204 };
  }
}

/** What only depends on reads must not move it: the ETag of a system is that of its settable state. */
const etagOf = (resource: Resource): string =>
  `"${createHash('sha1').update(JSON.stringify(resource)).digest('hex').slice(0, 16)}"`;

const failure = (status: number, message: string): Reply => ({
  status,
  body: {
    error: {
      code: 'Base.1.18.GeneralError',
      message,
      '@Message.ExtendedInfo': [{ MessageId: 'Base.1.18.GeneralError', Message: message, Severity: 'Critical' }],
    },
  },
});

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > largestRequestBytes) throw new Error('the request is too large');
    chunks.push(bytes);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Bmc, type BmcLimits, type BmcObserver } from '../src/http/bmc.ts';
import type { Clock } from '../src/http/clock.ts';
import { type BmcEndpoint } from '../src/endpoint.ts';
import { Password } from '../src/http/password.ts';
import type { IdleConnections } from '../src/http/idle-connections.ts';
import type { TlsContexts } from '../src/http/tls-contexts.ts';

export interface ReceivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Answers a request and returns true, or returns false to leave it to the stub. */
export type Intercept = (request: ReceivedRequest, response: ServerResponse) => boolean;

export interface StubBmcOptions {
  readonly username?: string;
  readonly password?: string;
  /** false: no SessionService at all, Basic only. */
  readonly sessions?: boolean;
  /** The advertised ExpandQuery; members are then embedded on request. */
  readonly expand?: object;
  readonly tls?: ServerOptions;
}

const MessageId = 'Base.1.8.ResourceAtUriUnauthorized';
const wrongCredentials = { error: { message: 'Wrong.', '@Message.ExtendedInfo': [{ MessageId }] } };

/** A real HTTP server that behaves like a small BMC and records its requests. */
export class StubBmc implements AsyncDisposable {
  readonly received: ReceivedRequest[] = [];
  readonly tokens = new Set<string>();
  readonly resources = new Map<string, object>();
  intercept: Intercept = () => false;
  password: string;
  connections = 0;
  /** Connections that resumed a TLS session. */
  resumed = 0;
  inFlight = 0;
  peakInFlight = 0;
  readonly #options: StubBmcOptions;
  readonly #server: Server;
  #logins = 0;

  private constructor(options: StubBmcOptions) {
    this.#options = options;
    this.password = options.password ?? 'calvin';
    const listener = (request: IncomingMessage, response: ServerResponse) => void this.#receive(request, response);
    this.#server = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
    this.#server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      this.connections += 1;
      if (socket instanceof TLSSocket && socket.isSessionReused()) this.resumed += 1;
    });
    this.#populate();
  }

  static async start(options: StubBmcOptions = {}): Promise<StubBmc> {
    const bmc = new StubBmc(options);
    await new Promise<void>((resolve) => {
      bmc.#server.listen(0, '127.0.0.1', resolve);
    });
    return bmc;
  }

  get endpoint(): BmcEndpoint & { tls?: never } {
    // A server that listens on TCP has an address with a port.
    const { port } = this.#server.address() as AddressInfo;
    return { scheme: this.#options.tls === undefined ? 'http' : 'https', host: '127.0.0.1', port };
  }

  /** `GET /redfish/v1/` and so on, in order. */
  get log(): string[] {
    return this.received.map(({ method, path }) => `${method} ${path}`);
  }

  count(entry: string): number {
    return this.log.filter((line) => line === entry).length;
  }

  set(path: string, resource: object): void {
    this.resources.set(path, { '@odata.id': path, ...resource });
  }

  collection(path: string, members: Record<string, object>): void {
    this.set(path, { Members: Object.keys(members).map((id) => ({ '@odata.id': `${path}/${id}` })) });
    for (const [id, member] of Object.entries(members)) this.set(`${path}/${id}`, { Id: id, ...member });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.inFlight += 1;
    this.peakInFlight = Math.max(this.peakInFlight, this.inFlight);
    response.once('close', () => {
      this.inFlight -= 1;
    });
    const chunks: Buffer[] = [];
    // Chunks of a request are buffers unless an encoding was set.
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      return; // The client gave up.
    }
    const text = Buffer.concat(chunks).toString();
    const received: ReceivedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: parsedBody(text),
    };
    this.received.push(received);
    if (!this.intercept(received, response)) this.#respond(received, response);
  }

  #respond({ method, path, headers, body }: ReceivedRequest, response: ServerResponse): void {
    const sessions = '/redfish/v1/SessionService/Sessions';
    const [plain = '', query = ''] = path.split('?');
    if (method === 'GET' && plain === '/redfish/v1/') return json(response, 200, this.#root());
    if (method === 'POST' && plain === sessions && this.#options.sessions !== false) return this.#logIn(body, response);
    if (!this.#isAuthenticated(headers)) return json(response, 401, { error: { message: 'Who are you?' } });
    if (method === 'DELETE' && plain.startsWith(sessions)) {
      this.tokens.delete(plain.slice(sessions.length + 1));
      return json(response, 204);
    }
    const resource = this.resources.get(plain);
    if (resource === undefined) return json(response, 404, { error: { message: `no ${plain}` } });
    if (method === 'PATCH') this.resources.set(plain, { ...resource, ...merged(resource, body) });
    return json(
      response,
      method === 'GET' ? 200 : 204,
      query.includes('$expand') ? this.#expanded(resource) : resource,
    );
  }

  #logIn(body: unknown, response: ServerResponse): void {
    const { password } = this;
    const { username = 'root' } = this.#options;
    const { UserName, Password: givenPassword } = { UserName: '', Password: '', ...partOf(body) };
    if (UserName !== username || givenPassword !== password) return json(response, 401, wrongCredentials);
    this.#logins += 1;
    const token = `token-${this.#logins}`;
    this.tokens.add(token);
    // Absolute, with a host name that only the BMC knows, as many BMCs answer.
    response.setHeader('location', `https://bmc.internal/redfish/v1/SessionService/Sessions/${token}`);
    response.setHeader('x-auth-token', token);
    json(response, 201, { Id: token });
  }

  #isAuthenticated({ authorization, 'x-auth-token': token }: IncomingHttpHeaders): boolean {
    const { username = 'root' } = this.#options;
    if (typeof token === 'string') return this.tokens.has(token);
    return authorization === `Basic ${Buffer.from(`${username}:${this.password}`).toString('base64')}`;
  }

  #root(): object {
    const { sessions, expand } = this.#options;
    return {
      '@odata.id': '/redfish/v1/',
      Systems: { '@odata.id': '/redfish/v1/Systems' },
      Managers: { '@odata.id': '/redfish/v1/Managers' },
      ...this.#service('AccountService'),
      ...this.#service('EventService'),
      ...this.#service('Registries'),
      ...this.#service('UpdateService'),
      ...(this.resources.has('/redfish/v1/TaskService') ? { Tasks: { '@odata.id': '/redfish/v1/TaskService' } } : {}),
      ...(sessions === false ? {} : { Links: { Sessions: { '@odata.id': '/redfish/v1/SessionService/Sessions' } } }),
      ...(expand === undefined ? {} : { ProtocolFeaturesSupported: { ExpandQuery: expand } }),
    };
  }

  /** The link to a service that a test has added. */
  #service(name: string): object {
    const path = `/redfish/v1/${name}`;
    return this.resources.has(path) ? { [name]: { '@odata.id': path } } : {};
  }

  #expanded(resource: object): object {
    if (!('Members' in resource) || !Array.isArray(resource.Members)) return resource;
    const links: { '@odata.id': string }[] = resource.Members;
    return { ...resource, Members: links.map((link) => this.resources.get(link['@odata.id']) ?? link) };
  }

  #populate(): void {
    this.collection('/redfish/v1/Systems', { '1': system });
    this.collection('/redfish/v1/Managers', { BMC: { UUID: 'AAAA', GraphicalConsole: { MaxConcurrentSessions: 2 } } });
    this.set('/redfish/v1/Systems/1/Actions/ComputerSystem.Reset', {});
  }
}

const system = {
  UUID: '4C4C4544-0038-3010-8056-B7C04F4D3132',
  Manufacturer: 'Contoso',
  Model: 'X1',
  PowerState: 'Off',
  IndicatorLED: 'Off',
  Boot: {
    BootSourceOverrideEnabled: 'Disabled',
    BootSourceOverrideTarget: 'None',
    BootSourceOverrideMode: 'UEFI',
    BootOrder: ['Boot0001', 'Boot0002', 'Boot0003'],
  },
  Actions: {
    '#ComputerSystem.Reset': {
      target: '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset',
      'ResetType@Redfish.AllowableValues': ['On', 'ForceOff', 'GracefulShutdown', 'ForceRestart'],
    },
  },
};

/** JSON as a value, any other body as text. */
function parsedBody(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

export function json(
  response: ServerResponse,
  status: number,
  body?: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined || status === 204 ? undefined : JSON.stringify(body));
}

function merged(resource: object, change: unknown): object {
  return Object.fromEntries(
    Object.entries(partOf(change)).map(([key, value]) => {
      const before: unknown = Reflect.get(resource, key);
      return [
        key,
        Array.isArray(value) || !(value instanceof Object) ? value : { ...partOf(before), ...partOf(value) },
      ];
    }),
  );
}

const partOf = (value: unknown): Record<string, unknown> =>
  value instanceof Object ? Object.fromEntries(Object.entries(value)) : {};

export interface StubClientOptions {
  readonly endpoint?: BmcEndpoint;
  readonly username?: string;
  readonly password?: string;
  readonly clock?: Clock;
  readonly limits?: Partial<BmcLimits>;
  readonly observer?: BmcObserver;
  readonly basicFallback?: boolean;
  readonly maySend?: () => boolean;
  readonly idleConnections?: IdleConnections;
  readonly tlsContexts?: TlsContexts;
}

/** A client of the stub. */
export function openStubClient(
  stub: StubBmc,
  { endpoint, username = 'root', password = 'calvin', ...options }: StubClientOptions = {},
): Bmc {
  return new Bmc({
    endpoint: endpoint ?? stub.endpoint,
    credentials: { username, password: new Password(password) },
    clock: wallClock,
    random: () => 0.5,
    ...options,
  });
}

/** Wall time; its timers keep the process alive, as tests wait for them. */
export const wallClock: Clock = {
  now: () => Date.now(),
  setTimeout: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  sleep: (delayMs, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, delayMs);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};

/** Time that moves only with `advance` and `sleep`, which returns at once. */
export class FakeClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<{ at: number; callback: () => void }>();
  readonly slept: number[] = [];

  now(): number {
    return this.#now;
  }

  setTimeout(delayMs: number, callback: () => void): Disposable {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => this.#timers.delete(timer) };
  }

  sleep(delayMs: number): Promise<void> {
    this.slept.push(delayMs);
    this.advance(delayMs);
    return Promise.resolve();
  }

  advance(byMs: number): void {
    this.#now += byMs;
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.callback();
    }
  }
}

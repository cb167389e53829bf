import { Agent } from 'undici';
import type * as z from 'zod';
import { Breaker, type BreakerState } from './breaker.ts';
import type { Clock } from './clock.ts';
import { RedfishError } from './errors.ts';
import { type Answer, exchange, type Method } from './exchange.ts';
import { Lanes, type Priority } from './lanes.ts';
import type { Password } from './password.ts';
import { type ServiceRoot, serviceRoot, sessionsPath } from './service-root.ts';
import { basicHeader, type Standing } from './session.ts';
import { type Traits, traitsOf } from './traits.ts';
import { type TlsTrust, trustingConnector } from './trust.ts';

export { Password } from './password.ts';

export interface BmcEndpoint {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsTrust | undefined;
}

/** Hears about traffic, for metrics. `status` is undefined when there was no answer. */
export interface BmcObserver {
  request(event: { method: string; path: string; status: number | undefined; ms: number }): void;
  sessions(count: number): void;
  breaker(state: BreakerState): void;
}

export interface BmcOptions {
  readonly endpoint: BmcEndpoint;
  readonly credentials: { readonly username: string; readonly password: Password };
  readonly clock: Clock;
  readonly random?: () => number;
  readonly limits?: { readonly inFlight?: number; readonly callDeadlineMs?: number };
  readonly observer?: BmcObserver;
}

export interface CallOptions {
  readonly priority?: Priority;
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs?: number;
}

export interface WriteOptions extends CallOptions {
  /** ETag the resource must still have; `*` and undefined send none. */
  readonly ifMatch?: string | undefined;
}

const defaults = { inFlight: 4, callDeadlineMs: 20_000 } as const;
/** Answers that pass by themselves are asked for again this often, and only where asking twice does no harm. */
const transientTries = 3;
const transientPauseMs = 500;

/**
 * The one conversation with a management controller: one session, a few requests at a time, the urgent first.
 *
 * Guarantees: a password is tried once, after a refusal nothing is sent until there is a new actor; a BMC that does not
 * answer is left alone; no request outlives its deadline; resets are never sent twice. Rejects with RedfishError.
 */
export class Bmc implements AsyncDisposable {
  readonly #options: BmcOptions;
  readonly #agent: Agent;
  readonly #lanes: Lanes;
  readonly #breaker: Breaker;
  readonly #callDeadlineMs: number;
  readonly #closed = new AbortController();
  #standing: Standing = { kind: 'none' };
  #login: Promise<void> | undefined;
  #root: Promise<ServiceRoot> | undefined;
  #manufacturer: string | undefined;

  constructor(options: BmcOptions) {
    this.#options = options;
    this.#callDeadlineMs = options.limits?.callDeadlineMs ?? defaults.callDeadlineMs;
    const inFlight = options.limits?.inFlight ?? defaults.inFlight;
    this.#lanes = new Lanes(inFlight);
    this.#breaker = new Breaker(options.clock, options.random ?? Math.random, (state) =>
      options.observer?.breaker(state),
    );
    this.#agent = new Agent({
      connections: inFlight,
      pipelining: 1,
      keepAliveTimeout: 30_000,
      connect: trustingConnector(options.endpoint.tls ?? {}, this.#callDeadlineMs),
    });
  }

  get breaker(): BreakerState {
    return this.#breaker.state;
  }

  /** Known once a system or manager was read. */
  get manufacturer(): string | undefined {
    return this.#manufacturer;
  }

  get traits(): Traits {
    return traitsOf(this.#manufacturer);
  }

  /** Systems tell who made them; what departs from the standard follows from it. */
  learnManufacturer(manufacturer: string | undefined): void {
    this.#manufacturer = manufacturer ?? this.#manufacturer;
  }

  /** The anonymous service root, read once per connection. */
  root(options: CallOptions = {}): Promise<ServiceRoot> {
    this.#root ??= this.#anonymousRoot(options).catch((error: unknown) => {
      this.#root = undefined;
      throw error;
    });
    return this.#root;
  }

  /** Reads a resource and parses it. `etag` is what a guarded write needs. */
  async read<S extends z.ZodType>(
    path: string,
    schema: S,
    options: CallOptions = {},
  ): Promise<{ value: z.output<S>; etag: string | undefined }> {
    const answer = await this.#authorised('GET', path, undefined, options);
    return { value: parse(answer, schema, path), etag: etagOf(answer) };
  }

  async get<S extends z.ZodType>(path: string, schema: S, options: CallOptions = {}): Promise<z.output<S>> {
    return (await this.read(path, schema, options)).value;
  }

  async patch(path: string, body: object, options: WriteOptions = {}): Promise<void> {
    await this.#authorised('PATCH', path, body, options);
  }

  async post(path: string, body: object, options: WriteOptions = {}): Promise<Answer> {
    return this.#authorised('POST', path, body, options);
  }

  /** Logs out and closes the connections. Best effort within a second. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed.signal.aborted) return;
    const { kind } = this.#standing;
    if (
      this.#standing.kind === 'session' &&
      this.#standing.location !== undefined &&
      this.#breaker.state === 'closed'
    ) {
      await this.#send(
        'DELETE',
        this.#standing.location,
        undefined,
        { 'x-auth-token': this.#standing.token },
        AbortSignal.timeout(1_000),
      ).catch(() => undefined);
    }
    if (kind === 'session') this.#options.observer?.sessions(0);
    this.#standing = { kind: 'none' };
    this.#closed.abort(new RedfishError({ code: 'Closed', message: 'the conversation with the BMC was ended' }));
    await this.#agent.destroy();
  }

  async #anonymousRoot(options: CallOptions): Promise<ServiceRoot> {
    const answer = await this.#scheduled('GET', '/redfish/v1/', undefined, () => ({}), options);
    if (answer.status >= 300) throw httpError('GET', '/redfish/v1/', answer);
    return parse(answer, serviceRoot, '/redfish/v1/');
  }

  async #authorised(method: Method, path: string, body: object | undefined, options: WriteOptions): Promise<Answer> {
    await this.#ensureStanding(options);
    const used = this.#standing;
    const headers = () => ({
      ...this.#credentials(),
      ...(options.ifMatch === undefined || options.ifMatch === '*' ? {} : { 'if-match': options.ifMatch }),
    });
    let answer = await this.#scheduled(method, path, body, headers, options);
    if (answer.status === 401) {
      await this.#readmit(used, path, answer);
      answer = await this.#scheduled(method, path, body, headers, options);
    }
    if (answer.status === 412 && options.ifMatch !== undefined) {
      // Some firmware hands out ETags and then does not recognise them.
      answer = await this.#scheduled(method, path, body, () => this.#credentials(), options);
    }
    if (answer.status < 300) return answer;
    if (answer.status === 401) this.#reject(answer);
    throw httpError(method, path, answer);
  }

  #credentials(): Record<string, string> {
    if (this.#standing.kind === 'session') return { 'x-auth-token': this.#standing.token };
    if (this.#standing.kind === 'basic') return { authorization: this.#standing.header };
    return {};
  }

  async #ensureStanding(options: CallOptions): Promise<void> {
    if (this.#standing.kind === 'rejected')
      throw new RedfishError({ code: 'AuthenticationFailed', status: 401, message: this.#standing.message });
    if (this.#standing.kind !== 'none') return;
    this.#login ??= this.#logIn(options).finally(() => {
      this.#login = undefined;
    });
    await this.#login;
  }

  /** A session that worked may have expired and is renewed once. Credentials that never worked are not tried again. */
  async #readmit(used: Standing, path: string, answer: Answer): Promise<void> {
    if (used.kind !== 'session') this.#reject(answer);
    if (this.#standing === used) this.#standing = { kind: 'none' };
    await this.#ensureStanding({ priority: 'power' });
    if (this.#standing.kind === 'none') throw httpError('GET', path, answer);
  }

  #reject(answer: Answer): never {
    const { endpoint, credentials } = this.#options;
    const message = `the BMC at ${endpoint.host}:${endpoint.port} refuses user "${credentials.username}" (HTTP ${answer.status}); correct the BMCSecret. It was tried once, so that the account is not locked`;
    this.#standing = { kind: 'rejected', message };
    throw new RedfishError({ code: 'AuthenticationFailed', status: answer.status, message });
  }

  async #logIn(options: CallOptions): Promise<void> {
    const root = await this.root(options);
    const { username, password } = this.#options.credentials;
    const path = sessionsPath(root);
    if (path !== undefined) {
      const answer = await this.#scheduled(
        'POST',
        path,
        { UserName: username, Password: password.reveal() },
        () => ({}),
        { ...options, priority: 'power' },
      );
      const token = answer.headers['x-auth-token'];
      if (answer.status < 300 && typeof token === 'string') {
        this.#standing = { kind: 'session', token, location: locationOf(answer) };
        this.#options.observer?.sessions(1);
        return;
      }
      if (answer.status === 401 || answer.status === 403) this.#reject(answer);
      // A BMC that has no session left, or none at all, still takes the same credentials with each request.
    }
    this.#standing = { kind: 'basic', header: basicHeader(username, password.reveal()) };
  }

  async #scheduled(
    method: Method,
    path: string,
    body: object | undefined,
    headers: () => Record<string, string>,
    options: CallOptions,
  ): Promise<Answer> {
    const deadline = AbortSignal.any([
      this.#closed.signal,
      this.#deadline(options.deadlineMs ?? this.#callDeadlineMs),
      ...(options.signal === undefined ? [] : [options.signal]),
    ]);
    const tries = method === 'POST' ? 1 : transientTries;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#lanes.run(options.priority ?? 'inventory', deadline, () =>
        this.#attempt(method, path, body, headers(), deadline),
      );
      if (attempt >= tries || !isTransient(answer.status)) return answer;
      await this.#options.clock.sleep(retryAfterOf(answer) ?? transientPauseMs * attempt, deadline);
    }
  }

  async #attempt(
    method: Method,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Answer> {
    this.#breaker.admit();
    try {
      const answer = await this.#send(method, path, body, headers, signal);
      if (answer.status >= 500) this.#breaker.failed();
      else this.#breaker.succeeded();
      return answer;
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#breaker.failed();
      throw error;
    }
  }

  async #send(
    method: Method,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const startedAt = this.#options.clock.now();
    let status: number | undefined;
    try {
      const answer = await exchange({
        agent: this.#agent,
        endpoint: this.#options.endpoint,
        method,
        path,
        body,
        headers,
        signal,
      });
      status = answer.status;
      return answer;
    } finally {
      this.#options.observer?.request({ method, path, status, ms: this.#options.clock.now() - startedAt });
    }
  }

  #deadline(ms: number): AbortSignal {
    const controller = new AbortController();
    this.#options.clock.setTimeout(ms, () =>
      controller.abort(
        new RedfishError({ code: 'TimedOut', message: `the BMC did not answer within ${ms / 1_000} s` }),
      ),
    );
    return controller.signal;
  }
}

const isTransient = (status: number): boolean => status === 503 || status === 429;

function retryAfterOf({ headers }: Answer): number | undefined {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 10) * 1_000 : undefined;
}

function etagOf({ headers, body }: Answer): string | undefined {
  const inBody = typeof body === 'object' && body !== null && '@odata.etag' in body ? body['@odata.etag'] : undefined;
  const etag = headers.etag ?? inBody;
  return typeof etag === 'string' ? etag : undefined;
}

function locationOf({ headers, body }: Answer): string | undefined {
  const inBody = typeof body === 'object' && body !== null && '@odata.id' in body ? body['@odata.id'] : undefined;
  const location = headers.location ?? inBody;
  if (typeof location !== 'string') return undefined;
  return URL.canParse(location) ? new URL(location).pathname : location;
}

function parse<S extends z.ZodType>(answer: Answer, schema: S, path: string): z.output<S> {
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RedfishError({
    code: 'BadAnswer',
    status: answer.status,
    message: `${path} is no usable Redfish resource: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
  });
}

const codes: Record<number, RedfishError['code']> = {
  401: 'AuthenticationFailed',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'NotSupported',
  429: 'Busy',
  501: 'NotSupported',
  503: 'Busy',
};

function httpError(method: string, path: string, answer: Answer): RedfishError {
  const said = messageIn(answer.body);
  return new RedfishError({
    code: codes[answer.status] ?? 'HttpError',
    status: answer.status,
    retryAfterMs: retryAfterOf(answer),
    message: `${method} ${path}: the BMC answered ${answer.status}${said === undefined ? '' : `: ${said}`}`,
  });
}

/** The first extended message, or the error's own (Redfish specification, error responses). */
function messageIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  const { error } = body;
  if (typeof error !== 'object' || error === null) return undefined;
  const extended: unknown =
    '@Message.ExtendedInfo' in error && Array.isArray(error['@Message.ExtendedInfo'])
      ? error['@Message.ExtendedInfo'][0]
      : undefined;
  for (const source of [extended, error]) {
    for (const member of ['Message', 'message']) {
      const text: unknown = typeof source === 'object' && source !== null ? Reflect.get(source, member) : undefined;
      if (typeof text === 'string' && text !== '') return text.slice(0, 300);
    }
  }
  return undefined;
}

import * as z from 'zod';
import { unlessAborted } from './aborted.ts';
import { type RequestContext, jsonOf, parse, errorFromResponse } from './parse-response.ts';
import type { BreakerLimits, BreakerState } from './breaker.ts';
import type { Clock } from './clock.ts';
import { type BmcEndpoint, originOf, pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { type BmcObserver, HttpRoundTripper } from './http-round-tripper.ts';
import { PriorityRequestQueue, type Priority } from './priority-request-queue.ts';
import { pauseBeforeRetry } from './retries.ts';
import { hiddenRoot, type ServiceRoot, serviceRoot, sessionsPath } from './service-root.ts';
import { Authentication, type Credentials } from './session.ts';
import { IdleConnections } from './idle-connections.ts';
import { TlsContexts } from './tls-contexts.ts';
import { type Traits, traitsOf } from '../traits.ts';
import type { Method, RawResponse } from './transport.ts';

export type { BmcEndpoint } from '../endpoint.ts';
export type { BmcObserver } from './http-round-tripper.ts';
export { Password } from './password.ts';

export interface BmcLimits {
  /** Exchanges at the same time. */
  readonly inFlight: number;
  /** For each exchange, from the attempt to connect until the last byte; waiting for a turn does not count. */
  readonly callDeadlineMs: number;
  /** Silence after a power action. */
  readonly gapAfterPowerMs: number;
  readonly maxBodyBytes: number;
  readonly breaker: BreakerLimits;
}

export interface BmcOptions {
  readonly endpoint: BmcEndpoint;
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** Where many BMCs share a limit for connections that wait. */
  readonly idleConnections?: IdleConnections | undefined;
  /** Where many BMCs are trusted for the same reasons. */
  readonly tlsContexts?: TlsContexts | undefined;
  /** 0 ≤ x < 1, for jitter. */
  readonly random?: () => number;
  readonly limits?: Partial<BmcLimits>;
  readonly observer?: BmcObserver;
  /** Whether anything may be sent right now; asked before each request. What may not be sent fails with HandedOver. */
  readonly maySend?: (() => boolean) | undefined;
}

export interface CallOptions {
  readonly priority?: Priority | undefined;
  /** Ends the call with the signal's reason, also while it waits for its turn. */
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs?: number | undefined;
  /** A 5xx answer speaks for this resource alone and says nothing about the health of the BMC. */
  readonly isSideResource?: boolean | undefined;
}

export interface WriteOptions extends CallOptions {
  /** ETag the resource must still have; `*` and undefined send none. */
  readonly ifMatch?: string | undefined;
  /** What an account has once this write is carried out. If it is the account we come with, that is used from then on. */
  readonly newCredentials?: Credentials | undefined;
}

/** What came back for a write. */
export interface WriteResponse {
  readonly status: number;
  /** Path of what was created or started, without the host name the BMC believes to have. */
  readonly location: string | undefined;
  /** Parsed JSON; undefined for an empty body and for one that is no JSON. */
  readonly body: unknown;
}

const defaultLimits: BmcLimits = {
  inFlight: 4,
  callDeadlineMs: 20_000,
  gapAfterPowerMs: 0,
  maxBodyBytes: 8 * 1024 * 1024,
  breaker: { failures: 5, firstPauseMs: 2_000, maxPauseMs: 120_000 },
};

const maxRedirects = 3;
/** A session that is not ended in this time expires at the BMC by itself. */
const logoutTimeoutMs = 2_000;

interface Call {
  readonly method: Method;
  readonly path: string;
  readonly body?: object | undefined;
  readonly options: WriteOptions;
}

/**
 * The one conversation with a management controller: one session, a few requests at a time, the urgent first.
 *
 * Guarantees: a rejected password is not sent again; a BMC that keeps failing is left alone; no exchange outlives its
 * deadline; a POST is never sent twice unless the BMC refused it with 401. Rejects with RedfishError, or with the
 * reason of the caller's signal.
 */
export class Bmc implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #limits: BmcLimits;
  readonly #origin: string;
  readonly #httpRoundTripper: HttpRoundTripper;
  readonly #requestQueue: PriorityRequestQueue;
  readonly #authentication: Authentication;
  #root: ServiceRoot | undefined;
  #rootRead: Promise<ServiceRoot> | undefined;
  #expands = true;
  #manufacturer: string | undefined;
  #serviceUuid: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: BmcOptions) {
    const { endpoint, credentials, clock, random = Math.random, limits, observer, maySend } = options;
    this.#clock = clock;
    this.#random = random;
    this.#limits = { ...defaultLimits, ...limits };
    this.#origin = originOf(endpoint);
    this.#requestQueue = new PriorityRequestQueue(clock, this.#limits.inFlight);
    this.#httpRoundTripper = new HttpRoundTripper({
      endpoint,
      clock,
      idleConnections: options.idleConnections ?? new IdleConnections({ clock }),
      tlsContexts: options.tlsContexts ?? new TlsContexts(),
      random,
      limits: this.#limits,
      observer,
      maySend,
      onBreaker: (state) => this.#onBreakerChange(state),
    });
    this.#authentication = new Authentication({
      origin: this.#origin,
      clock,
      credentials,
      send: (request) => this.#httpRoundTripper.roundTrip({ ...request, deadlineMs: this.#limits.callDeadlineMs }),
      sessionsPath: async () => sessionsPath(await this.#sharedRoot()),
      onSessions: (count) => observer?.sessions(count),
    });
  }

  get breaker(): BreakerState {
    return this.#httpRoundTripper.breaker;
  }

  /** Known once a system was read. */
  get manufacturer(): string | undefined {
    return this.#manufacturer;
  }

  /** UUID of the Redfish service as the root tells it; known once anything was read. */
  get serviceUuid(): string | undefined {
    return this.#serviceUuid;
  }

  /** The standard until a system was read; every operation that needs the traits reads one first. */
  get traits(): Traits {
    return traitsOf(this.#manufacturer);
  }

  /** Whether `$expand` may still be used: it was advertised, and no answer to it has proved otherwise. */
  get expands(): boolean {
    return this.#expands;
  }

  /** Systems tell who made them; what departs from the standard follows from it. The first answer stays. */
  learnManufacturer(manufacturer: string | undefined): void {
    this.#manufacturer ??= manufacturer;
  }

  /** An advertised `$expand` that fails where the plain request succeeds is not tried again. */
  disableExpand(): void {
    this.#expands = false;
  }

  /** Other credentials end the refusal to use the rejected ones. The session of the old ones is ended. */
  replaceCredentials(credentials: Credentials): Promise<void> {
    return this.#authentication.replace(credentials);
  }

  /** The anonymous service root, read once per conversation. */
  async root({ priority = 'inventory', signal }: CallOptions = {}): Promise<ServiceRoot> {
    return this.#root ?? this.#requestQueue.run(priority, signal, () => unlessAborted(this.#sharedRoot(), signal));
  }

  /** Reads a resource and parses it. `etag` is what a guarded write needs; `length` is that of the answer, in characters. */
  async read<S extends z.ZodType>(
    path: string,
    schema: S,
    options: CallOptions = {},
  ): Promise<{ value: z.output<S>; etag: string | undefined; length: number }> {
    const { response, context } = await this.#follow(pathOf(path), options);
    const json = jsonOf(response, context);
    return {
      value: parse(schema, json, response, context),
      etag: etagOf(response, json),
      length: response.text.length,
    };
  }

  async get<S extends z.ZodType>(path: string, schema: S, options: CallOptions = {}): Promise<z.output<S>> {
    return (await this.read(path, schema, options)).value;
  }

  /**
   * Changes members of a resource. When the ETag does not match, the resource is looked at again: an ETag that moved
   * is taken over, one that did not is evidently not understood by the BMC, and the change is sent without.
   */
  async patch(path: string, body: object, options: WriteOptions = {}): Promise<WriteResponse> {
    const call = { method: 'PATCH', path: pathOf(path), body } as const;
    const { ifMatch } = options;
    try {
      return await this.#write({ ...call, options });
    } catch (error) {
      if (!isPreconditionFailed(error) || ifMatch === undefined) throw error;
    }
    const { etag } = await this.read(path, z.unknown(), options);
    return this.#write({ ...call, options: { ...options, ifMatch: etag === ifMatch ? undefined : etag } });
  }

  /** Sent once. After an error without a status nobody knows whether it was carried out: look before repeating. */
  async post(path: string, body: object, options: WriteOptions = {}): Promise<WriteResponse> {
    return this.#write({ method: 'POST', path: pathOf(path), body, options });
  }

  async delete(path: string, options: WriteOptions = {}): Promise<WriteResponse> {
    return this.#write({ method: 'DELETE', path: pathOf(path), options });
  }

  /** Logs out, best effort, and closes the connections. What still runs or waits ends with Closed. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#requestQueue.close();
    const { promise: timedOut, resolve } = Promise.withResolvers<void>();
    using _timer = this.#clock.setTimeout(logoutTimeoutMs, resolve);
    await Promise.race([this.#authentication.logout(), timedOut]);
    await this.#httpRoundTripper.close();
  }

  async #write(call: Call): Promise<WriteResponse> {
    const response = await this.#call(call);
    const context = { origin: this.#origin, method: call.method, path: call.path };
    if (response.status >= 300) throw errorFromResponse(response, context, this.#clock.now());
    const { location } = response.headers;
    return {
      status: response.status,
      location: location === undefined ? undefined : pathOf(location),
      body: bodyOf(response, context),
    };
  }

  async #follow(path: string, options: CallOptions): Promise<{ response: RawResponse; context: RequestContext }> {
    let at = path;
    for (let redirects = 0; ; redirects += 1) {
      const context = { origin: this.#origin, method: 'GET', path: at };
      const response = await this.#call({ method: 'GET', path: at, options });
      if (response.status < 300) return { response, context };
      const { location } = response.headers;
      if (!isRedirect(response.status) || location === undefined || redirects === maxRedirects)
        throw errorFromResponse(response, context, this.#clock.now());
      at = pathOf(location);
    }
  }

  /** Repeats what failed in passing. Between the tries others have their turn. */
  async #call(call: Call): Promise<RawResponse> {
    for (let previousAttempts = 0; ; previousAttempts += 1) {
      const outcome = await this.#enqueue(call).catch(passRedfishError);
      const attempt = {
        method: call.method,
        previousAttempts,
        outcome,
        now: this.#clock.now(),
        random: this.#random(),
      };
      const pauseMs = this.#closing === undefined ? pauseBeforeRetry(attempt) : undefined;
      if (pauseMs !== undefined) await this.#clock.sleep(pauseMs, call.options.signal);
      else if (outcome instanceof RedfishError) throw outcome;
      else return outcome;
    }
  }

  #enqueue(call: Call): Promise<RawResponse> {
    const { priority = 'inventory', signal } = call.options;
    const isPowerAction = call.method === 'POST' && priority === 'power';
    return this.#requestQueue.run(priority, signal, async () => {
      try {
        return await this.#sendAuthenticated(call);
      } finally {
        if (isPowerAction) this.#requestQueue.pause(this.#limits.gapAfterPowerMs);
      }
    });
  }

  #sendAuthenticated({ method, path, body, options }: Call): Promise<RawResponse> {
    const { signal, deadlineMs = this.#limits.callDeadlineMs, ifMatch, isSideResource } = options;
    const condition = ifMatch === undefined || ifMatch === '*' ? {} : { 'if-match': ifMatch };
    const send = (credentials: Record<string, string>) => {
      const headers = { ...condition, ...credentials };
      return this.#httpRoundTripper.roundTrip({ method, path, body, deadlineMs, signal, headers }, isSideResource);
    };
    const isWrite = method !== 'GET';
    return this.#authentication.run(send, {
      context: { origin: this.#origin, method, path },
      signal,
      newCredentials: isWrite ? options.newCredentials : undefined,
    });
  }

  /** A BMC that comes back may have new firmware: what was learned of its abilities is learned anew. */
  #onBreakerChange(state: BreakerState): void {
    if (state !== 'half-open') return;
    this.#root = undefined;
    this.#expands = true;
  }

  /** The root is read within the turn of whoever needs it first; the others wait for the same answer. */
  async #sharedRoot(): Promise<ServiceRoot> {
    if (this.#root !== undefined) return this.#root;
    this.#rootRead ??= this.#readRoot().finally(() => {
      this.#rootRead = undefined;
    });
    return this.#rootRead;
  }

  async #readRoot(): Promise<ServiceRoot> {
    const path = '/redfish/v1/';
    const context = { origin: this.#origin, method: 'GET', path };
    const deadlineMs = this.#limits.callDeadlineMs;
    const response = await this.#httpRoundTripper.roundTrip({ method: 'GET', path, headers: {}, deadlineMs });
    // Against the standard, but no reason to give up: the usual places are tried.
    if (response.status === 401 || response.status === 403) return hiddenRoot();
    if (response.status >= 300) throw errorFromResponse(response, context, this.#clock.now());
    this.#root = parse(serviceRoot, jsonOf(response, context), response, context);
    this.#serviceUuid = this.#root.UUID ?? this.#serviceUuid;
    return this.#root;
  }
}

/** An outcome like an answer; anything else, such as the reason of a signal, goes up. */
function passRedfishError(error: unknown): RedfishError {
  if (error instanceof RedfishError) return error;
  throw error;
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

const isPreconditionFailed = (error: unknown): boolean => error instanceof RedfishError && error.status === 412;

function etagOf({ headers }: RawResponse, json: unknown): string | undefined {
  const inBody = typeof json === 'object' && json !== null && '@odata.etag' in json ? json['@odata.etag'] : undefined;
  const etag = headers.etag ?? inBody;
  // A compressing web server in front of the BMC appends its own mark, which the BMC does not know.
  return typeof etag === 'string' ? etag.replace(/-gzip(?="?$)/, '') : undefined;
}

/** Answers to writes may hold anything. */
function bodyOf(response: RawResponse, context: RequestContext): unknown {
  try {
    return jsonOf(response, context);
  } catch {
    return undefined;
  }
}

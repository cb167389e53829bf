import * as z from 'zod';
import { originOf, pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { type Traits, traitsOf } from '../traits.ts';
import { unlessAborted } from './aborted.ts';
import { Authentication } from './authentication.ts';
import { type BmcOptions, defaultLimits } from './bmc-options.ts';
import { type BreakerState, CircuitBreaker } from './circuit-breaker.ts';
import type { Clock } from './clock.ts';
import { IdleConnections } from './idle-connections.ts';
import { compose, type Interceptor, type Send } from './interceptor.ts';
import { checkOwnership } from './ownership-check.ts';
import { bodyOf, errorFromResponse, etagOf, jsonOf, parse, type RequestContext } from './parse-response.ts';
import type { Credentials } from './password.ts';
import { PriorityRequestQueue } from './priority-request-queue.ts';
import type { CallOptions, Method, RawResponse, RedfishRequest, WriteOptions, WriteResponse } from './request.ts';
import { type BmcObserver, observeRequests } from './request-observer.ts';
import { retryTransientFailures } from './retry.ts';
import { ServiceRootReader } from './service-root-reader.ts';
import { type ServiceRoot, sessionsPath } from './service-root.ts';
import { TlsContexts } from './tls-contexts.ts';
import { Transport } from './transport.ts';

export type { BmcEndpoint } from '../endpoint.ts';
export type { BmcLimits, BmcOptions } from './bmc-options.ts';
export { Password } from './password.ts';
export { type CallOptions, Upload, type WriteOptions, type WriteResponse } from './request.ts';
export type { BmcObserver } from './request-observer.ts';

const maxRedirects = 3;
/** A session that is not closed in this time expires at the BMC. */
const logoutTimeoutMs = 2_000;

/**
 * The Redfish client of one BMC: one session, limited concurrency, requests in the order of their priority.
 *
 * Guarantees: a rejected password is not sent again (a BMC that refuses sessions may get it once more, with Basic); nothing is sent to a BMC that keeps failing until a pause is over; no
 * request outlives its deadline; a POST is never sent twice unless the BMC refused it with 401. Rejects with RedfishError, or
 * with the reason of the caller's signal.
 */
export class Bmc implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #origin: string;
  readonly #transport: Transport;
  readonly #breaker: CircuitBreaker;
  readonly #requestQueue: PriorityRequestQueue;
  readonly #rootReader: ServiceRootReader;
  readonly #authentication: Authentication;
  readonly #send: Send;
  readonly #sendUnauthenticated: Send;
  #expands = true;
  #manufacturer: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: BmcOptions) {
    const { endpoint, credentials, clock, random = Math.random, observer, maySend, basicFallback = true } = options;
    const { idleConnections = new IdleConnections({ clock }), tlsContexts = new TlsContexts() } = options;
    const origin = originOf(endpoint);
    const limits = { ...defaultLimits, ...options.limits };
    const onChange = (state: BreakerState): void => this.#onBreakerChange(state, observer);
    const send: Send = (request) => this.#sendUnauthenticated(request);
    const shared = { origin, clock, deadlineMs: limits.callDeadlineMs, send };
    this.#clock = clock;
    this.#deadlineMs = limits.callDeadlineMs;
    this.#origin = origin;
    this.#requestQueue = new PriorityRequestQueue({ clock, ...limits });
    this.#rootReader = new ServiceRootReader(shared);
    this.#authentication = new Authentication({
      ...shared,
      credentials,
      basicFallback,
      sessionsPath: async () => sessionsPath(await this.#rootReader.read()),
      onSessions: (count) => observer?.sessions(count),
    });
    this.#breaker = new CircuitBreaker({ clock, random, origin, limits: limits.breaker, onChange });
    this.#transport = new Transport({ endpoint, clock, idleConnections, tlsContexts, maySend, ...limits });

    // Logins and reads of the service root take only this part: they belong to a request that is queued already.
    const unauthenticated: readonly Interceptor[] = [
      checkOwnership(origin, maySend), // Before the breaker: a request without ownership must not use its half-open attempt.
      this.#breaker.intercept,
      observeRequests(clock, observer), // Last: requests that the breaker fails are not sent and not reported.
    ];
    const interceptors: readonly Interceptor[] = [
      retryTransientFailures({ clock, random, isClosed: () => this.#closing !== undefined }), // First: a retry queues again.
      this.#requestQueue.intercept, // Before authentication: a login runs in the slot of the request that needs it.
      this.#authentication.intercept,
      ...unauthenticated,
    ];
    this.#send = compose(interceptors, this.#transport.send);
    this.#sendUnauthenticated = compose(unauthenticated, this.#transport.send);
  }

  get breaker(): BreakerState {
    return this.#breaker.state;
  }

  /** Known once a system was read. */
  get manufacturer(): string | undefined {
    return this.#manufacturer;
  }

  /** The last successful request was with Basic, not in a session. */
  get takesBasic(): boolean {
    return this.#authentication.takesBasic;
  }

  /** UUID of the Redfish service, from its root; known once anything was read. */
  get serviceUuid(): string | undefined {
    return this.#rootReader.serviceUuid;
  }

  /** The standard until a system was read; every operation that needs the traits reads one first. */
  get traits(): Traits {
    return traitsOf(this.#manufacturer);
  }

  /** Whether `$expand` may still be used: false after a response has proved that the BMC does not support it. */
  get expands(): boolean {
    return this.#expands;
  }

  /** Selects the traits by the manufacturer of a system. The first value is kept. */
  learnManufacturer(manufacturer: string | undefined): void {
    this.#manufacturer ??= manufacturer;
  }

  /** An advertised `$expand` that fails where the plain request succeeds is not tried again. */
  disableExpand(): void {
    this.#expands = false;
  }

  /** Requests are sent again if the former credentials were rejected. The session of the former ones is closed. */
  replaceCredentials(credentials: Credentials): Promise<void> {
    return this.#authentication.replace(credentials);
  }

  /** The service root, read once without credentials. */
  async root({ priority = 'inventory', signal }: CallOptions = {}): Promise<ServiceRoot> {
    const read = (): Promise<ServiceRoot> => unlessAborted(this.#rootReader.read(), signal);
    return this.#rootReader.root ?? this.#requestQueue.run(priority, signal, read);
  }

  /** Reads a resource and parses it. `etag` is what a guarded write needs; `length` counts the characters of the response. */
  async read<S extends z.ZodType>(
    path: string,
    schema: S,
    options: CallOptions = {},
  ): Promise<{ value: z.output<S>; etag: string | undefined; length: number; status: number }> {
    const { response, context } = await this.#follow(pathOf(path), options);
    const json = jsonOf(response, context);
    return {
      value: parse(schema, json, response, context),
      etag: etagOf(response, json),
      length: response.text.length,
      status: response.status,
    };
  }

  async get<S extends z.ZodType>(path: string, schema: S, options: CallOptions = {}): Promise<z.output<S>> {
    return (await this.read(path, schema, options)).value;
  }

  /**
   * Changes properties of a resource. After 412 the resource is read again: a changed ETag is sent instead; an unchanged one
   * is evidently not understood by the BMC, and the change is sent without.
   */
  async patch(path: string, body: object, options: WriteOptions = {}): Promise<WriteResponse> {
    const { ifMatch } = options;
    try {
      return await this.#write('PATCH', path, options, body);
    } catch (error) {
      const isPreconditionFailed = error instanceof RedfishError && error.status === 412;
      if (!isPreconditionFailed || ifMatch === undefined) throw error;
    }
    const { etag } = await this.read(path, z.unknown(), options);
    return this.#write('PATCH', path, { ...options, ifMatch: etag === ifMatch ? undefined : etag }, body);
  }

  /** Sent once; an Upload is streamed. After an error without a status it is unknown whether it was carried out: read first. */
  post(path: string, body: object, options: WriteOptions = {}): Promise<WriteResponse> {
    return this.#write('POST', path, options, body);
  }

  delete(path: string, options: WriteOptions = {}): Promise<WriteResponse> {
    return this.#write('DELETE', path, options);
  }

  /** Closes the session, best effort, and the connections. Running and queued requests fail with Closed. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#requestQueue.close();
    const { promise: timedOut, resolve } = Promise.withResolvers<void>();
    using _timer = this.#clock.setTimeout(logoutTimeoutMs, resolve);
    await Promise.race([this.#authentication.logout(), timedOut]);
    await this.#transport.close();
  }

  async #write(method: Method, link: string, options: WriteOptions, body?: object): Promise<WriteResponse> {
    const context = { origin: this.#origin, method, path: pathOf(link) };
    const { ifMatch, newCredentials } = options;
    const headers = ifMatch === undefined || ifMatch === '*' ? {} : { 'if-match': ifMatch };
    const request = this.#request(method, context.path, options);
    const response = await this.#send({ ...request, headers, body, newCredentials });
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
      const response = await this.#send(this.#request('GET', at, options));
      if (response.status < 300) return { response, context };
      const { location } = response.headers;
      if (!isRedirect(response.status) || location === undefined || redirects === maxRedirects)
        throw errorFromResponse(response, context, this.#clock.now());
      at = pathOf(location);
    }
  }

  #request(method: Method, path: string, options: CallOptions): RedfishRequest {
    const { priority, signal, deadlineMs = this.#deadlineMs, isSideResource } = options;
    return { method, path, headers: {}, deadlineMs, priority, signal, isSideResource };
  }

  /** A BMC that comes back may have new firmware: its service root and its `$expand` are read and tried again. */
  #onBreakerChange(state: BreakerState, observer: BmcObserver | undefined): void {
    observer?.breaker(state);
    if (state !== 'half-open') return;
    this.#rootReader.invalidate();
    this.#expands = true;
  }
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

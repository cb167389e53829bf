import * as z from 'zod';
import { unlessAborted } from './aborted.ts';
import { type Asked, jsonOf, parse, refusalOf } from './answer.ts';
import { Breaker, type BreakerLimits, type BreakerState } from './breaker.ts';
import type { Clock } from './clock.ts';
import { type BmcEndpoint, originOf, pathOf } from './endpoint.ts';
import { RedfishError } from './errors.ts';
import { Lanes, type Priority } from './lanes.ts';
import { hiddenRoot, type ServiceRoot, serviceRoot, sessionsPath } from './service-root.ts';
import { Authentication, type Credentials } from './session.ts';
import { type Traits, traitsOf } from './traits.ts';
import { type Exchange, type Method, type RawAnswer, Transport } from './transport.ts';

export type { BmcEndpoint } from './endpoint.ts';
export { Password } from './password.ts';

/** Hears about traffic, for metrics. `status` is undefined when there was no answer. */
export interface BmcObserver {
  request(event: { method: string; path: string; status: number | undefined; ms: number }): void;
  sessions(count: number): void;
  breaker(state: BreakerState): void;
}

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
  /** 0 ≤ x < 1, for jitter. */
  readonly random?: () => number;
  readonly limits?: Partial<BmcLimits>;
  readonly observer?: BmcObserver;
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
}

/** What came back for a write. */
export interface Answer {
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
  breaker: { failures: 5, firstPauseMs: 2_000, longestPauseMs: 120_000 },
};

/** Transient answers are asked for again this often, only where asking twice does no harm. */
const retries = 2;
const firstRetryMs = 200;
/** A BMC that wants to be left alone longer than this gets its wish; the caller is told when to come back. */
const longestRetryAfterMs = 10_000;
const mostRedirects = 3;
/** A session that is not ended in this time expires at the BMC by itself. */
const longestLogoutMs = 2_000;

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
  readonly #observer: BmcObserver | undefined;
  readonly #transport: Transport;
  readonly #lanes: Lanes;
  readonly #breaker: Breaker;
  readonly #authentication: Authentication;
  #root: ServiceRoot | undefined;
  #rootRead: Promise<ServiceRoot> | undefined;
  #expands = true;
  #manufacturer: string | undefined;
  #closing: Promise<void> | undefined;

  constructor({ endpoint, credentials, clock, random = Math.random, limits, observer }: BmcOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#limits = { ...defaultLimits, ...limits };
    this.#origin = originOf(endpoint);
    this.#observer = observer;
    const { inFlight, callDeadlineMs, maxBodyBytes } = this.#limits;
    this.#transport = new Transport({ endpoint, clock, connections: inFlight, maxBodyBytes, callDeadlineMs });
    this.#lanes = new Lanes(clock, inFlight);
    this.#breaker = new Breaker({
      clock,
      random,
      origin: this.#origin,
      limits: this.#limits.breaker,
      onChange: (state) => this.#breakerIs(state),
    });
    this.#authentication = new Authentication({
      origin: this.#origin,
      clock,
      credentials,
      send: (exchange) => this.#exchange({ ...exchange, deadlineMs: callDeadlineMs }),
      sessionsPath: async () => sessionsPath(await this.#sharedRoot()),
      onSessions: (count) => observer?.sessions(count),
    });
  }

  get breaker(): BreakerState {
    return this.#breaker.state;
  }

  /** Known once a system was read. */
  get manufacturer(): string | undefined {
    return this.#manufacturer;
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
  learnExpandFails(): void {
    this.#expands = false;
  }

  /** Other credentials end the refusal to use the rejected ones. The session of the old ones is ended. */
  replaceCredentials(credentials: Credentials): Promise<void> {
    return this.#authentication.replace(credentials);
  }

  /** The anonymous service root, read once per conversation. */
  async root({ priority = 'inventory', signal }: CallOptions = {}): Promise<ServiceRoot> {
    return this.#root ?? this.#lanes.run(priority, signal, () => unlessAborted(this.#sharedRoot(), signal));
  }

  /** Reads a resource and parses it. `etag` is what a guarded write needs. */
  async read<S extends z.ZodType>(
    path: string,
    schema: S,
    options: CallOptions = {},
  ): Promise<{ value: z.output<S>; etag: string | undefined }> {
    const { answer, asked } = await this.#follow(pathOf(path), options);
    const json = jsonOf(answer, asked);
    return { value: parse(schema, json, answer, asked), etag: etagOf(answer, json) };
  }

  async get<S extends z.ZodType>(path: string, schema: S, options: CallOptions = {}): Promise<z.output<S>> {
    return (await this.read(path, schema, options)).value;
  }

  /**
   * Changes members of a resource. When the ETag does not match, the resource is looked at again: an ETag that moved
   * is taken over, one that did not is evidently not understood by the BMC, and the change is sent without.
   */
  async patch(path: string, body: object, options: WriteOptions = {}): Promise<Answer> {
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
  async post(path: string, body: object, options: WriteOptions = {}): Promise<Answer> {
    try {
      return await this.#write({ method: 'POST', path: pathOf(path), body, options });
    } finally {
      if (options.priority === 'power') this.#lanes.pause(this.#limits.gapAfterPowerMs);
    }
  }

  async delete(path: string, options: WriteOptions = {}): Promise<Answer> {
    return this.#write({ method: 'DELETE', path: pathOf(path), options });
  }

  /** Logs out, best effort, and closes the connections. What still runs or waits ends with Closed. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#lanes.close();
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    using _timer = this.#clock.setTimeout(longestLogoutMs, resolve);
    await Promise.race([this.#authentication.logout(), enough]);
    await this.#transport.close();
  }

  async #write(call: Call): Promise<Answer> {
    const answer = await this.#call(call);
    const asked = { origin: this.#origin, method: call.method, path: call.path };
    if (answer.status >= 300) throw refusalOf(answer, asked, this.#clock.now());
    const { location } = answer.headers;
    return {
      status: answer.status,
      location: location === undefined ? undefined : pathOf(location),
      body: bodyOf(answer, asked),
    };
  }

  async #follow(path: string, options: CallOptions): Promise<{ answer: RawAnswer; asked: Asked }> {
    let at = path;
    for (let redirects = 0; ; redirects += 1) {
      const asked = { origin: this.#origin, method: 'GET', path: at };
      const answer = await this.#call({ method: 'GET', path: at, options });
      if (answer.status < 300) return { answer, asked };
      const { location } = answer.headers;
      if (!isRedirect(answer.status) || location === undefined || redirects === mostRedirects)
        throw refusalOf(answer, asked, this.#clock.now());
      at = pathOf(location);
    }
  }

  /** Repeats what failed in passing. Between the tries others have their turn. */
  async #call(call: Call): Promise<RawAnswer> {
    for (let tries = 0; ; tries += 1) {
      const outcome = await this.#inTurn(call).catch((error: unknown) => this.#brokenConnection(error));
      const pauseMs = this.#pauseBeforeRetry(call, outcome, tries);
      if (pauseMs === undefined && outcome instanceof RedfishError) throw outcome;
      if (pauseMs === undefined && !(outcome instanceof RedfishError)) return outcome;
      await this.#clock.sleep(pauseMs ?? 0, call.options.signal);
    }
  }

  #brokenConnection(error: unknown): RedfishError {
    if (error instanceof RedfishError && error.code === 'Unreachable') return error;
    throw error;
  }

  #pauseBeforeRetry({ method }: Call, outcome: RawAnswer | RedfishError, tries: number): number | undefined {
    if (method === 'POST' || tries >= retries || this.#closing !== undefined) return undefined;
    const backoffMs = firstRetryMs * 4 ** tries * (1 - this.#random() / 4);
    if (outcome instanceof RedfishError) return isBroken(outcome) ? (tries === 0 ? 0 : backoffMs) : undefined;
    if (outcome.status !== 503 && outcome.status !== 429) return undefined;
    const { retryAfterMs } = refusalOf(outcome, { origin: '', method, path: '' }, this.#clock.now());
    if (retryAfterMs === undefined) return outcome.status === 429 ? backoffMs : undefined;
    return retryAfterMs <= longestRetryAfterMs ? retryAfterMs : undefined;
  }

  #inTurn({ method, path, body, options }: Call): Promise<RawAnswer> {
    const { priority = 'inventory', signal, deadlineMs = this.#limits.callDeadlineMs, ifMatch } = options;
    const condition = ifMatch === undefined || ifMatch === '*' ? {} : { 'if-match': ifMatch };
    const asked = { origin: this.#origin, method, path };
    return this.#lanes.run(priority, signal, () =>
      this.#authentication.run(
        (credentials) =>
          this.#exchange(
            { method, path, body, deadlineMs, signal, headers: { ...condition, ...credentials } },
            options.isSideResource,
          ),
        asked,
        signal,
      ),
    );
  }

  /** A BMC that comes back may have new firmware: what was learned of its abilities is learned anew. */
  #breakerIs(state: BreakerState): void {
    if (state === 'half-open') {
      this.#root = undefined;
      this.#expands = true;
    }
    this.#observer?.breaker(state);
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
    const asked = { origin: this.#origin, method: 'GET', path };
    const deadlineMs = this.#limits.callDeadlineMs;
    const answer = await this.#exchange({ method: 'GET', path, headers: {}, deadlineMs });
    // Against the standard, but no reason to give up: the usual places are tried.
    if (answer.status === 401 || answer.status === 403) return hiddenRoot();
    if (answer.status >= 300) throw refusalOf(answer, asked, this.#clock.now());
    this.#root = parse(serviceRoot, jsonOf(answer, asked), answer, asked);
    return this.#root;
  }

  async #exchange(exchange: Exchange, isSideResource = false): Promise<RawAnswer> {
    this.#breaker.admit();
    const startedAt = this.#clock.now();
    let status: number | undefined;
    try {
      const answer = await this.#transport.exchange(exchange);
      status = answer.status;
      this.#judge(answer, isSideResource);
      return answer;
    } catch (error) {
      if (countsAsFailure(error)) this.#breaker.failed(error.code);
      else this.#breaker.undecided();
      throw error;
    } finally {
      const { method, path } = exchange;
      this.#observer?.request({ method, path, status, ms: this.#clock.now() - startedAt });
    }
  }

  /** 501 is an honest answer of a healthy BMC, other 5xx are not. */
  #judge({ status }: RawAnswer, isSideResource: boolean): void {
    if (status < 500 || status === 501 || isSideResource) this.#breaker.succeeded();
    else this.#breaker.failed(`HTTP ${status}`);
  }
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

const isPreconditionFailed = (error: unknown): boolean => error instanceof RedfishError && error.status === 412;

/** The connection existed and broke; a refused or impossible one is not repaired by haste. */
function isBroken({ cause }: RedfishError): boolean {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET';
}

const countsAsFailure = (error: unknown): error is RedfishError =>
  error instanceof RedfishError && ['Unreachable', 'TimedOut', 'BadAnswer'].includes(error.code);

function etagOf({ headers }: RawAnswer, json: unknown): string | undefined {
  const inBody = typeof json === 'object' && json !== null && '@odata.etag' in json ? json['@odata.etag'] : undefined;
  const etag = headers.etag ?? inBody;
  // A compressing web server in front of the BMC appends its own mark, which the BMC does not know.
  return typeof etag === 'string' ? etag.replace(/-gzip(?="?$)/, '') : undefined;
}

/** Answers to writes may hold anything. */
function bodyOf(answer: RawAnswer, asked: Asked): unknown {
  try {
    return jsonOf(answer, asked);
  } catch {
    return undefined;
  }
}

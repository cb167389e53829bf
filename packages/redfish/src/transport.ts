import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import type { Clock } from './clock.ts';
import { collect, type Collected } from './collect.ts';
import { type BmcEndpoint, originOf } from './endpoint.ts';
import { closedError, handedOverError, RedfishError } from './errors.ts';
import { longestSilenceMs, mostInSilence, type Silences } from './silences.ts';
import type { TlsContexts } from './tls-contexts.ts';
import { trustingConnector, type TrustingConnector } from './trust.ts';

export type Method = 'GET' | 'PATCH' | 'POST' | 'DELETE';

export interface Exchange {
  readonly method: Method;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
  /** From the attempt to connect until the last byte of the answer. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Collected['headers'];
  readonly text: string;
}

export interface TransportOptions {
  readonly endpoint: BmcEndpoint;
  readonly clock: Clock;
  /** Of all BMCs together, like the next. */
  readonly silences: Silences;
  readonly tlsContexts: TlsContexts;
  readonly maxBodyBytes: number;
  /** Exchanges at the same time. */
  readonly inFlight: number;
  /** Also the longest wait for a connection. */
  readonly callDeadlineMs: number;
  /** Asked again once a connection stands, right before something is written on it. */
  readonly mayTalk?: (() => boolean) | undefined;
}

/** HTTP with one BMC: connections that are kept for a while, trusted certificates, a deadline, a limit for the size of answers. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #origin: string;
  readonly #connector: TrustingConnector;
  readonly #clientOptions: Client.Options;
  /** Connections that wait for the next request, that which was used last at the end; no more than may be busy at once. */
  #idle: Client[] = [];
  #silence: Disposable | undefined;
  readonly #running = new Set<AbortController>();
  #isClosed = false;

  constructor(options: TransportOptions) {
    const { endpoint, callDeadlineMs, tlsContexts, mayTalk } = options;
    this.#options = options;
    this.#origin = originOf(endpoint);
    this.#connector = trustingConnector(endpoint, callDeadlineMs, tlsContexts);
    this.#clientOptions = {
      connect: allowed(this.#connector.connect, this.#origin, mayTalk),
      // The deadline of the exchange is the only one.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 4_000,
      // BMCs offer to keep them for minutes.
      keepAliveMaxTimeout: longestSilenceMs,
    };
  }

  /** Answers whatever the status; throws Unreachable, TimedOut, TlsUntrusted, BadAnswer or the reason of the signal. */
  async exchange(exchange: Exchange): Promise<RawAnswer> {
    if (this.#isClosed) throw closedError();
    exchange.signal?.throwIfAborted();
    const end = new AbortController();
    const onAbort = (): void => end.abort();
    this.#running.add(end);
    this.#silence?.[Symbol.dispose]();
    exchange.signal?.addEventListener('abort', onAbort, { once: true });
    using _timer = this.#options.clock.setTimeout(exchange.deadlineMs, onAbort);
    try {
      return await this.#send(exchange, end.signal);
    } catch (error) {
      exchange.signal?.throwIfAborted();
      if (this.#isClosed) throw closedError();
      throw end.signal.aborted ? this.#tooLate(exchange) : this.#explain(error, exchange);
    } finally {
      this.#running.delete(end);
      if (this.#running.size === 0 && !this.#isClosed) this.#fallSilent();
      exchange.signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Breaks off what is still running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const end of this.#running) end.abort();
    this.#silence?.[Symbol.dispose]();
    this.#connector[Symbol.dispose]();
    await this.#hangUp();
  }

  /** What was needed for a burst, such as the parts of an inventory, is rarely needed again. */
  #fallSilent(): void {
    void this.#hangUp(mostInSilence);
    this.#silence = this.#options.silences.begin(() => void this.#hangUp());
  }

  async #hangUp(butSome = 0): Promise<void> {
    const ended = this.#idle.splice(0, Math.max(0, this.#idle.length - butSome));
    await Promise.all(ended.map((client) => client.destroy()));
  }

  async #send(exchange: Exchange, signal: AbortSignal): Promise<RawAnswer> {
    // A kept connection may be closed by the other side just as we write. Then nobody knows whether the request was
    // carried out, and a POST must not be repeated: it gets a new connection, which is good for others afterwards.
    const mayUseKept = exchange.method !== 'POST';
    const client = (mayUseKept ? this.#idle.pop() : undefined) ?? new Client(this.#origin, this.#clientOptions);
    try {
      return await this.#request(client, exchange, signal);
    } finally {
      if (!this.#isClosed && this.#idle.length < this.#options.inFlight) this.#idle.push(client);
      else await client.destroy();
    }
  }

  async #request(dispatcher: Dispatcher, exchange: Exchange, signal: AbortSignal): Promise<RawAnswer> {
    const { method, path, headers, body } = exchange;
    const { maxBodyBytes } = this.#options;
    const tooLarge = () => this.#badAnswer(`${method} ${path}: more than ${maxBodyBytes} bytes`);
    const request = {
      method,
      path,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'odata-version': '4.0',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    };
    const answer = await collect(dispatcher, request, { signal, maxBodyBytes, tooLarge });
    return { status: answer.status, headers: answer.headers, text: await this.#textOf(answer) };
  }

  /** Some BMCs compress although we ask them not to. */
  async #textOf({ headers, body }: Collected): Promise<string> {
    const { maxBodyBytes: maxOutputLength } = this.#options;
    const isGzip = headers['content-encoding'] === 'gzip';
    return (isGzip ? await promisify(gunzip)(body, { maxOutputLength }) : body).toString('utf8');
  }

  #tooLate({ method, path, deadlineMs }: Exchange): RedfishError {
    return new RedfishError({
      code: 'TimedOut',
      message: `${this.#origin} did not answer ${method} ${path} within ${deadlineMs / 1_000} s`,
    });
  }

  #explain(error: unknown, { method, path }: Exchange): unknown {
    if (error instanceof RedfishError) return error;
    const code = codeOf(error);
    const what = `${this.#origin}, ${method} ${path}`;
    if (code === 'UND_ERR_CONNECT_TIMEOUT')
      return new RedfishError({ code: 'TimedOut', message: `${what}: no connection in time`, cause: error });
    if (code.startsWith('HPE_') || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || code.startsWith('Z_'))
      return this.#badAnswer(`${what}: the answer is not HTTP or is cut off (${code})`, error);
    return new RedfishError({ code: 'Unreachable', message: `${what}: ${sentenceOf(code, error)}`, cause: error });
  }

  #badAnswer(message: string, cause?: unknown): RedfishError {
    return new RedfishError({ code: 'BadAnswer', message, cause });
  }
}

/**
 * A process that stood still while it connected, and goes on when another has taken its place, finds out before it
 * writes: the connection is dropped.
 */
function allowed(
  connect: buildConnector.connector,
  origin: string,
  mayTalk: () => boolean = () => true,
): buildConnector.connector {
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error !== null || mayTalk()) return error === null ? callback(null, socket) : callback(error, null);
      socket.destroy();
      callback(handedOverError(origin), null);
    });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

const sentences: Record<string, string> = {
  ECONNREFUSED: 'connection refused; nothing listens at this port',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EPROTO: 'no TLS there; is the scheme http?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS there; is the scheme http?',
  UND_ERR_SOCKET: 'the other side closed the connection before it had answered',
};

const sentenceOf = (code: string, error: unknown): string =>
  sentences[code] ?? (error instanceof Error ? error.message : String(error));

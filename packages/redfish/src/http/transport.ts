import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Client, type Dispatcher } from 'undici';
import type { Clock } from './clock.ts';
import { readResponse, type BufferedResponse } from './read-response.ts';
import { type BmcEndpoint, originOf } from '../endpoint.ts';
import { closedError, RedfishError } from '../errors.ts';
import { idleTimeoutMs, maxIdlePerBmc, type IdleConnections } from './idle-connections.ts';
import type { Send } from './interceptor.ts';
import { guardedConnector, type MaySend } from './ownership-check.ts';
import { type RawResponse, type RedfishRequest, Upload } from './request.ts';
import type { TlsContexts } from './tls-contexts.ts';
import { verifyingConnector, type VerifyingConnector } from './verifying-connector.ts';

export interface TransportOptions {
  readonly endpoint: BmcEndpoint;
  readonly clock: Clock;
  /** Shared by all BMCs, like `tlsContexts`. */
  readonly idleConnections: IdleConnections;
  readonly tlsContexts: TlsContexts;
  readonly maxBodyBytes: number;
  /** Concurrent requests. */
  readonly inFlight: number;
  /** The connect timeout. */
  readonly callDeadlineMs: number;
  /** Checked again when a connection is established, before anything is written on it. */
  readonly maySend?: MaySend | undefined;
}

/** HTTP with one BMC: keep-alive connections, verified certificates, a deadline, a limit for the size of responses. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #origin: string;
  readonly #connector: VerifyingConnector;
  readonly #clientOptions: Client.Options;
  /** Idle connections, the last used at the end; at most as many as concurrent requests. */
  #idle: Client[] = [];
  #idlePeriod: Disposable | undefined;
  readonly #running = new Set<AbortController>();
  #isClosed = false;

  constructor(options: TransportOptions) {
    const { endpoint, callDeadlineMs, tlsContexts, maySend } = options;
    this.#options = options;
    this.#origin = originOf(endpoint);
    this.#connector = verifyingConnector(endpoint, callDeadlineMs, tlsContexts);
    this.#clientOptions = {
      connect: guardedConnector(this.#connector.connect, this.#origin, maySend),
      // The deadline of the request is the only one.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 4_000,
      // BMCs offer to keep connections for minutes.
      keepAliveMaxTimeout: idleTimeoutMs,
    };
  }

  /** Resolves with any status; rejects with Unreachable, TimedOut, TlsUntrusted, CertificateChanged, BadAnswer or the reason of the signal. */
  readonly send: Send = async (request) => {
    if (this.#isClosed) throw closedError();
    request.signal?.throwIfAborted();
    const controller = new AbortController();
    const onAbort = (): void => controller.abort();
    this.#running.add(controller);
    this.#idlePeriod?.[Symbol.dispose]();
    request.signal?.addEventListener('abort', onAbort, { once: true });
    using _timer = this.#options.clock.setTimeout(request.deadlineMs, onAbort);
    try {
      return await this.#sendOnClient(request, controller.signal);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (this.#isClosed) throw closedError();
      throw controller.signal.aborted ? this.#timeoutError(request) : this.#toRedfishError(error, request);
    } finally {
      this.#running.delete(controller);
      if (this.#running.size === 0 && !this.#isClosed) this.#becomeIdle();
      request.signal?.removeEventListener('abort', onAbort);
    }
  };

  /** Aborts running requests and closes the connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const controller of this.#running) controller.abort();
    this.#idlePeriod?.[Symbol.dispose]();
    this.#connector[Symbol.dispose]();
    await this.#closeIdle();
  }

  /** Connections of a burst, such as the read of an inventory, are rarely needed again. */
  #becomeIdle(): void {
    void this.#closeIdle(maxIdlePerBmc);
    this.#idlePeriod = this.#options.idleConnections.add(() => void this.#closeIdle());
  }

  async #closeIdle(keep = 0): Promise<void> {
    const closed = this.#idle.splice(0, Math.max(0, this.#idle.length - keep));
    await Promise.all(closed.map((client) => client.destroy()));
  }

  async #sendOnClient(request: RedfishRequest, signal: AbortSignal): Promise<RawResponse> {
    // The BMC may close an idle connection while a request is written to it. Then it is unknown whether the request was
    // carried out. A POST must not be repeated, so it opens a new connection, which later requests reuse.
    const mayReuse = request.method !== 'POST';
    const client = (mayReuse ? this.#idle.pop() : undefined) ?? new Client(this.#origin, this.#clientOptions);
    try {
      return await this.#dispatch(client, request, signal);
    } finally {
      if (!this.#isClosed && this.#idle.length < this.#options.inFlight) this.#idle.push(client);
      else await client.destroy();
    }
  }

  async #dispatch(dispatcher: Dispatcher, request: RedfishRequest, signal: AbortSignal): Promise<RawResponse> {
    const { method, path, headers } = request;
    const { maxBodyBytes } = this.#options;
    const tooLarge = () => this.#badResponseError(`${method} ${path}: more than ${maxBodyBytes} bytes`);
    const { body, contentHeaders } = await encodedBodyOf(request);
    const dispatchOptions = {
      method,
      path,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'odata-version': '4.0',
        ...contentHeaders,
        ...headers,
      },
      body,
    };
    const response = await readResponse(dispatcher, dispatchOptions, { signal, maxBodyBytes, tooLarge }).finally(() => {
      if (body instanceof Readable) body.destroy();
    });
    return { status: response.status, headers: response.headers, text: await this.#textOf(response) };
  }

  /** Some BMCs compress in spite of `accept-encoding: identity`. */
  async #textOf({ headers, body }: BufferedResponse): Promise<string> {
    const { maxBodyBytes: maxOutputLength } = this.#options;
    const isGzip = headers['content-encoding'] === 'gzip';
    return (isGzip ? await promisify(gunzip)(body, { maxOutputLength }) : body).toString('utf8');
  }

  #timeoutError({ method, path, deadlineMs }: RedfishRequest): RedfishError {
    return new RedfishError({
      code: 'TimedOut',
      message: `${this.#origin} did not answer ${method} ${path} within ${deadlineMs / 1_000} s`,
    });
  }

  #toRedfishError(error: unknown, { method, path }: RedfishRequest): unknown {
    if (error instanceof RedfishError) return error;
    const code = codeOf(error);
    const what = `${this.#origin}, ${method} ${path}`;
    if (code === 'UND_ERR_CONNECT_TIMEOUT')
      return new RedfishError({ code: 'TimedOut', message: `${what}: no connection in time`, cause: error });
    if (code.startsWith('HPE_') || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || code.startsWith('Z_'))
      return this.#badResponseError(`${what}: the answer is not HTTP or is cut off (${code})`, error);
    return new RedfishError({ code: 'Unreachable', message: `${what}: ${explanationOf(code, error)}`, cause: error });
  }

  #badResponseError(message: string, cause?: unknown): RedfishError {
    return new RedfishError({ code: 'BadAnswer', message, cause });
  }
}

interface EncodedBody {
  readonly body: Readable | string | null;
  readonly contentHeaders: Record<string, string>;
}

async function encodedBodyOf({ body }: RedfishRequest): Promise<EncodedBody> {
  if (body === undefined) return { body: null, contentHeaders: {} };
  if (!(body instanceof Upload))
    return { body: JSON.stringify(body), contentHeaders: { 'content-type': 'application/json' } };
  const { length, stream } = await body.open();
  return { body: stream, contentHeaders: { 'content-type': body.contentType, 'content-length': String(length) } };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

const explanations: Record<string, string> = {
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

const explanationOf = (code: string, error: unknown): string =>
  explanations[code] ?? (error instanceof Error ? error.message : String(error));

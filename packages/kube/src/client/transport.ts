import type { Dispatcher } from 'undici';
import { loadClusterAccess } from './cluster-access.ts';
import type { Call } from './call.ts';
import { readResponse, type ApiResponse } from './read-response.ts';
import { Connections } from './connections.ts';
import type { ClusterAccess, ClusterAccessOptions } from './kubeconfig.ts';
import { KubeError } from '../errors.ts';

export interface TransportOptions extends ClusterAccessOptions {
  readonly userAgent?: string | undefined;
}

const headersTimeoutMs = 65_000;
/** The API server sends bookmarks every minute; a watch that is idle for longer has lost its connection. */
const watchIdleTimeoutMs = 150_000;
/** Tokens and exec credentials are read again after this long. */
const credentialsFreshForMs = 60_000;

/** A streamed response; `text` is the body of an error. */
export interface StreamedResponse extends ApiResponse {
  readonly body: AsyncIterable<Buffer>;
}

/** One API server: its address, credentials and connections. */
export class Transport implements AsyncDisposable {
  readonly #access: ClusterAccess;
  readonly #base: URL;
  /** Prefix of every path. */
  readonly #root: string;
  readonly #userAgent: string;
  #connections: Connections | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #freshUntil = 0;
  #refreshing: Promise<Connections> | undefined;
  #identity = '';

  constructor({ userAgent, ...options }: TransportOptions) {
    this.#access = loadClusterAccess(options);
    const { server } = this.#access;
    if (server === undefined)
      throw new KubeError({
        code: 'Unreachable',
        message: 'no cluster is configured: give --kubeconfig, set KUBECONFIG, or run inside a cluster',
      });
    this.#base = new URL(server);
    this.#root = this.#base.pathname.replace(/\/$/, '');
    this.#userAgent = userAgent ?? 'metal-operator';
  }

  get host(): string {
    return this.#base.host;
  }

  /** Sends one request and reads the complete response, with any status. */
  async request(call: Call): Promise<ApiResponse> {
    const connections = await this.#prepare();
    return readResponse(connections.of(call.pool ?? 'work'), this.#requestOf(call), call.signal);
  }

  /** Sends one request with a streamed response: a watch, which may idle for long. */
  async stream(call: Call): Promise<StreamedResponse> {
    const connections = await this.#prepare();
    const { statusCode, headers, body } = await connections.of('watch').request({
      ...this.#requestOf(call),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
      bodyTimeout: watchIdleTimeoutMs,
    });
    const text = statusCode < 300 ? '' : await body.text().catch(() => '');
    return { status: statusCode, headers, text, body };
  }

  /** Credentials were rejected: the next request reads them again. */
  invalidateCredentials(): void {
    this.#freshUntil = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections?.destroy();
  }

  async #prepare(): Promise<Connections> {
    if (this.#connections !== undefined && performance.now() < this.#freshUntil) return this.#connections;
    // Single-flight: a refresh may run a credential program.
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<Connections> {
    const options = await this.#access.credentials();
    this.#headers = options.headers ?? {};
    this.#freshUntil = performance.now() + credentialsFreshForMs;
    const identity = [options.ca, options.cert, options.key].join('\n');
    if (this.#connections !== undefined && identity === this.#identity) return this.#connections;
    // Running requests and watches finish on the connections of the old certificate.
    void this.#connections?.close();
    this.#identity = identity;
    this.#connections = new Connections(this.#base.origin, options);
    return this.#connections;
  }

  #requestOf({ method, path, body, contentType, accept = 'application/json' }: Call): Dispatcher.DispatchOptions {
    return {
      path: `${this.#root}${path}`,
      method,
      headers: {
        ...this.#headers,
        accept,
        'user-agent': this.#userAgent,
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body }),
      headersTimeout: headersTimeoutMs,
      bodyTimeout: headersTimeoutMs,
    };
  }
}

import { Agent, type Dispatcher } from 'undici';
import { type Access, accessOf, type AccessOptions, type Credentials } from './access.ts';
import { KubeError } from './errors.ts';

export interface TransportOptions extends AccessOptions {
  readonly userAgent?: string | undefined;
}

const headersTimeoutMs = 65_000;
/** A watch tells at least its bookmarks every minute; one that is silent for longer has lost its connection. */
const longestSilenceMs = 150_000;
/** Enough for the watches and some hundred turns that write at once. */
const connections = 256;

/** Rotated tokens and exec credentials are asked for anew after this long. */
const credentialsFreshForMs = 60_000;

/** One API server: its address, our credentials, and a pool of connections. */
export class Transport implements AsyncDisposable {
  readonly #access: Access;
  readonly #base: URL;
  readonly #userAgent: string;
  #agent: Agent | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #freshUntil = 0;
  #refreshing: Promise<Agent> | undefined;
  #identity = '';

  constructor({ userAgent, ...options }: TransportOptions) {
    this.#access = accessOf(options);
    const { server } = this.#access;
    if (server === undefined)
      throw new KubeError({
        code: 'Unreachable',
        message: 'no cluster is configured: give --kubeconfig, set KUBECONFIG, or run inside a cluster',
      });
    this.#base = new URL(server);
    this.#userAgent = userAgent ?? 'metal-operator';
  }

  get host(): string {
    return this.#base.host;
  }

  /** Sends one request. Streams (watches) may be silent for longer. */
  async send(options: {
    method: Dispatcher.HttpMethod;
    path: string;
    body?: string | undefined;
    contentType?: string | undefined;
    signal?: AbortSignal | undefined;
    stream?: boolean;
  }): Promise<Dispatcher.ResponseData> {
    const agent = await this.#prepare();
    const { method, path, body, contentType, signal, stream = false } = options;
    return agent.request({
      origin: this.#base.origin,
      path: `${this.#base.pathname.replace(/\/$/, '')}${path}`,
      method,
      headers: {
        ...this.#headers,
        accept: 'application/json',
        'user-agent': this.#userAgent,
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
      headersTimeout: headersTimeoutMs,
      bodyTimeout: stream ? longestSilenceMs : headersTimeoutMs,
    });
  }

  /** Credentials were refused: the next request asks for new ones. */
  distrustCredentials(): void {
    this.#freshUntil = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent?.destroy();
  }

  async #prepare(): Promise<Agent> {
    if (this.#agent !== undefined && performance.now() < this.#freshUntil) return this.#agent;
    // One refresh for all requests that wait for it: it may run a credential program.
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<Agent> {
    const options = await this.#access.credentials();
    this.#headers = options.headers ?? {};
    this.#freshUntil = performance.now() + credentialsFreshForMs;
    const identity = [options.ca, options.cert, options.key].join('\n');
    if (this.#agent !== undefined && identity === this.#identity) return this.#agent;
    // Requests and watches under way end on the connections of the certificate that was replaced.
    void this.#agent?.close();
    this.#identity = identity;
    this.#agent = agentFor(options);
    return this.#agent;
  }
}

function agentFor({ ca, cert, key, servername, rejectUnauthorized }: Credentials): Agent {
  return new Agent({
    connections,
    keepAliveTimeout: 30_000,
    // A watch and a write on one HTTP/2 connection would be lost together.
    allowH2: false,
    connect: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(servername === undefined ? {} : { servername }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    },
  });
}

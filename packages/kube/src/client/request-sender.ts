import { Counter, type Registry } from 'prom-client';
import type { KubeError } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Call } from './call.ts';
import type { PoolName } from './connections.ts';
import type { ApiResponse } from './read-response.ts';
import { connectionError, errorFrom } from './status-errors.ts';
import type { Transport } from './transport.ts';

/** For a longer `Retry-After` the caller decides whether to wait. */
const maxRetryAfterMs = 10_000;

interface RequestMetrics {
  readonly requests: Counter;
  readonly hostRequests: Counter;
}

export interface RequestSenderOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly metrics: RequestMetrics | undefined;
}

/** Sends requests over one connection pool: counts them, retries them where that is safe, and maps responses to errors. */
export class RequestSender {
  readonly #options: RequestSenderOptions;
  readonly #pool: PoolName;

  constructor(options: RequestSenderOptions, pool: PoolName) {
    this.#options = options;
    this.#pool = pool;
  }

  /** Sends a request and parses the body of its response. */
  async send<T>(verb: string, resource: string, call: Call): Promise<T> {
    const { transport } = this.#options;
    const { text } = await this.#request(verb, resource, call, () => transport.request({ pool: this.#pool, ...call }));
    try {
      // The API server validated the object against the schema its type is derived from.
      return JSON.parse(text) as T;
    } catch (error) {
      throw connectionError(error, call);
    }
  }

  /** Sends a request and returns its response with the body as a stream. */
  stream(verb: string, resource: string, call: Call): ReturnType<Transport['stream']> {
    return this.#request(verb, resource, call, () => this.#options.transport.stream(call));
  }

  async #request<A extends ApiResponse>(
    verb: string,
    resource: string,
    call: Call,
    send: () => Promise<A>,
  ): Promise<A> {
    this.#options.metrics?.requests.inc({ verb, resource });
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#attempt(call, send);
      if (response.status < 300) return response;
      const error = errorFrom(response, call);
      if (!(await this.#mayRepeat(error, attempt, call.signal))) throw error;
    }
  }

  /** True if the server rejected the request without an effect; resolves after its `Retry-After`. */
  async #mayRepeat(
    { code, status, retryAfterMs }: KubeError,
    attempt: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { transport, clock } = this.#options;
    if (code === 'Unauthorized') {
      transport.invalidateCredentials();
      return attempt === 1;
    }
    const isBusy = status === 429 || status === 503;
    if (!isBusy || retryAfterMs === undefined || retryAfterMs > maxRetryAfterMs || attempt > 2) return false;
    return clock.sleep(retryAfterMs, signal).then(
      () => true,
      () => false,
    );
  }

  async #attempt<A extends ApiResponse>(call: Call, send: () => Promise<A>): Promise<A> {
    const { transport, metrics } = this.#options;
    try {
      const response = await send();
      metrics?.hostRequests.inc({ code: response.status, method: call.method, host: transport.host });
      return response;
    } catch (error) {
      throw connectionError(error, call);
    }
  }
}

export function requestMetrics(registry: Registry | undefined): RequestMetrics | undefined {
  if (registry === undefined) return undefined;
  const registers = [registry];
  return {
    requests: new Counter({
      name: 'kube_client_requests_total',
      help: 'Requests to the API server',
      labelNames: ['verb', 'resource'],
      registers,
    }),
    hostRequests: new Counter({
      name: 'rest_client_requests_total',
      help: 'Requests to the API server by status code',
      labelNames: ['code', 'method', 'host'],
      registers,
    }),
  };
}

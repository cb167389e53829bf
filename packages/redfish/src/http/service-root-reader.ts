import type { Clock } from './clock.ts';
import type { Send } from './interceptor.ts';
import { errorFromResponse, jsonOf, parse } from './parse-response.ts';
import { hiddenRoot, type ServiceRoot, serviceRoot } from './service-root.ts';

export interface ServiceRootReaderOptions {
  readonly origin: string;
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Sends without queueing and without credentials: the root is read as part of the request that needs it first. */
  readonly send: Send;
}

/** The service root of one BMC, which needs no credentials (DSP0266). Read once, and again after `invalidate`. */
export class ServiceRootReader {
  readonly #options: ServiceRootReaderOptions;
  #root: ServiceRoot | undefined;
  #reading: Promise<ServiceRoot> | undefined;
  #serviceUuid: string | undefined;

  constructor(options: ServiceRootReaderOptions) {
    this.#options = options;
  }

  /** Undefined until the root was read. */
  get root(): ServiceRoot | undefined {
    return this.#root;
  }

  /** UUID of the Redfish service; known once the root was read, and kept by `invalidate`. */
  get serviceUuid(): string | undefined {
    return this.#serviceUuid;
  }

  /** Concurrent callers share one request. */
  async read(): Promise<ServiceRoot> {
    if (this.#root !== undefined) return this.#root;
    this.#reading ??= this.#request().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  invalidate(): void {
    this.#root = undefined;
  }

  async #request(): Promise<ServiceRoot> {
    const { origin, clock, deadlineMs, send } = this.#options;
    const path = '/redfish/v1/';
    const context = { origin, method: 'GET', path };
    const response = await send({ method: 'GET', path, headers: {}, deadlineMs });
    // Against the standard, but no reason to give up: the usual paths are tried.
    if (response.status === 401 || response.status === 403) return hiddenRoot();
    if (response.status >= 300) throw errorFromResponse(response, context, clock.now());
    this.#root = parse(serviceRoot, jsonOf(response, context), response, context);
    this.#serviceUuid = this.#root.UUID ?? this.#serviceUuid;
    return this.#root;
  }
}

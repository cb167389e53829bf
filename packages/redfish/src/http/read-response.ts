import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

export interface BufferedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface ReadResponseOptions {
  readonly signal: AbortSignal;
  readonly maxBodyBytes: number;
  /** Creates the error for a larger body. */
  readonly tooLarge: () => Error;
}

/**
 * Sends a request and buffers its response. Responses of BMCs are small and needed as a whole: a request without a stream
 * costs half. Rejects with the reason of the signal, with `tooLarge`, or with the error of the connection.
 */
export function readResponse(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  options: ReadResponseOptions,
): Promise<BufferedResponse> {
  const reader = new ResponseReader(options);
  if (!options.signal.aborted) dispatcher.dispatch(request, reader);
  return reader.response;
}

class ResponseReader implements Dispatcher.DispatchHandler {
  readonly response: Promise<BufferedResponse>;
  readonly #options: ReadResponseOptions;
  readonly #settle: Pick<PromiseWithResolvers<BufferedResponse>, 'resolve' | 'reject'>;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: BufferedResponse['headers'] = {};
  #bytes = 0;

  constructor(options: ReadResponseOptions) {
    this.#options = options;
    const { promise, ...settle } = Promise.withResolvers<BufferedResponse>();
    this.response = promise;
    this.#settle = settle;
    if (options.signal.aborted) this.#onAbort();
    else options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Aborted while it waited for a connection. Nothing was sent yet; aborting later would close the connection.
    this.#options.signal.throwIfAborted();
    this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBodyBytes) this.#abort(this.#options.tooLarge());
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#stopListening();
    this.#settle.resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#stopListening();
    this.#settle.reject(error);
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#options.signal;
    this.#abort(reason instanceof Error ? reason : new Error('aborted'));
  };

  #abort(reason: Error): void {
    this.#settle.reject(reason);
    this.#controller?.abort(reason);
  }

  #stopListening(): void {
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }
}

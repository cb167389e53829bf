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
  { signal, maxBodyBytes, tooLarge }: ReadResponseOptions,
): Promise<BufferedResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<BufferedResponse>();
  let controller: Dispatcher.DispatchController | undefined;
  const chunks: Buffer[] = [];
  let [status, bytes]: [number, number] = [0, 0];
  let headers: BufferedResponse['headers'] = {};
  const abort = (reason: Error): void => {
    reject(reason);
    controller?.abort(reason);
  };
  const onAbort = (): void => abort(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  const finish = (end: () => void): void => {
    signal.removeEventListener('abort', onAbort);
    end();
  };
  if (signal.aborted) {
    onAbort();
    return promise;
  }
  signal.addEventListener('abort', onAbort, { once: true });
  dispatcher.dispatch(request, {
    onRequestStart(started) {
      // Aborted while it waited for a connection. Nothing was sent yet; aborting later would close the connection.
      signal.throwIfAborted();
      controller = started;
    },
    onResponseStart(_controller, statusCode, responseHeaders) {
      status = statusCode;
      headers = responseHeaders;
    },
    onResponseData(_controller, chunk) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) abort(tooLarge());
      else chunks.push(chunk);
    },
    onResponseEnd: () => finish(() => resolve({ status, headers, body: Buffer.concat(chunks) })),
    onResponseError: (_controller, error) => finish(() => reject(error)),
  });
  return promise;
}

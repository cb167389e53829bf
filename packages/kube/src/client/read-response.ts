import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** A complete response. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * Sends a request and buffers its response, without a stream. Rejects with the reason of the signal, at once and also while
 * the request waits for a connection, or with the error of the connection.
 */
export function readResponse(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ApiResponse>();
  let controller: Dispatcher.DispatchController | undefined;
  const chunks: Buffer[] = [];
  let status = 0;
  let headers: IncomingHttpHeaders = {};
  const onAbort = (): void => {
    const reason = reasonOf(signal);
    reject(reason);
    controller?.abort(reason);
  };
  if (signal?.aborted) {
    onAbort();
    return promise;
  }
  signal?.addEventListener('abort', onAbort, { once: true });
  const finish = (end: () => void): void => {
    signal?.removeEventListener('abort', onAbort);
    end();
  };
  dispatcher.dispatch(request, {
    onRequestStart(started) {
      // It got a connection after the abort. `controller.abort` would close the connection; nothing was sent on it yet.
      signal?.throwIfAborted();
      controller = started;
    },
    onResponseStart(_controller, statusCode, responseHeaders) {
      status = statusCode;
      headers = responseHeaders;
    },
    onResponseData: (_controller, chunk) => void chunks.push(chunk),
    onResponseEnd: () => finish(() => resolve({ status, headers, text: textOf(chunks) })),
    onResponseError: (_controller, error) => finish(() => reject(error)),
  });
  return promise;
}

const reasonOf = (signal: AbortSignal | undefined): Error =>
  signal?.reason instanceof Error ? signal.reason : new Error('aborted');

const textOf = (chunks: readonly Buffer[]): string =>
  (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)).toString('utf8');

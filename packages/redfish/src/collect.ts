import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

export interface Collected {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface CollectOptions {
  readonly signal: AbortSignal;
  readonly maxBodyBytes: number;
  /** What is thrown when the body is larger. */
  readonly tooLarge: () => Error;
}

/**
 * Sends a request and collects its answer. Answers of BMCs are small and wanted whole: going without a stream for each halves
 * what an exchange costs. Rejects with the reason of the signal, with `tooLarge`, or with the error of the connection.
 */
export function collect(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, maxBodyBytes, tooLarge }: CollectOptions,
): Promise<Collected> {
  const { promise, resolve, reject } = Promise.withResolvers<Collected>();
  let controller: Dispatcher.DispatchController | undefined;
  const chunks: Buffer[] = [];
  let [status, bytes]: [number, number] = [0, 0];
  let headers: Collected['headers'] = {};
  const giveUp = (reason: Error): void => {
    reject(reason);
    controller?.abort(reason);
  };
  const onAbort = (): void => giveUp(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  const settle = (end: () => void): void => {
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
      // It waited for a connection meanwhile. To abort it now would end the connection with it; nothing was sent on that yet.
      signal.throwIfAborted();
      controller = started;
    },
    onResponseStart(_controller, statusCode, told) {
      status = statusCode;
      headers = told;
    },
    onResponseData(_controller, chunk) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) giveUp(tooLarge());
      else chunks.push(chunk);
    },
    onResponseEnd: () => settle(() => resolve({ status, headers, body: Buffer.concat(chunks) })),
    onResponseError: (_controller, error) => settle(() => reject(error)),
  });
  return promise;
}

import { createHash } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Artefact } from './ipxe.ts';

/** A request of the machine. URLs may contain the token of a boot. */
export interface MachineRequest {
  readonly at: number;
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Undefined when there was no response. */
  readonly status: number | undefined;
  readonly bytes: number;
}

export type Fetched = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly isFinal: boolean };

export interface NetworkOptions {
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
  readonly userAgent: string;
}

/** Deadline of one request, in wall-clock time, as the server uses it. */
const requestTimeoutMs = 30_000;
const maxRequests = 500;

/** The network of a booting machine. Records its requests. */
export class MachineNetwork {
  readonly requests: MachineRequest[] = [];
  readonly #options: NetworkOptions;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Fetches a text. A rejection is final when a retry would not help. */
  async text(url: string, signal: AbortSignal, method: 'GET' | 'POST' = 'GET'): Promise<Fetched> {
    let text = '';
    const decoder = new TextDecoder();
    const status = await this.#request(
      url,
      signal,
      method,
      (chunk) => (text += decoder.decode(chunk, { stream: true })),
    );
    if (status !== undefined && status < 300) return { ok: true, text };
    return {
      ok: false,
      isFinal: status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429,
    };
  }

  /** Fetches an image; only size and digest are kept. */
  async image(url: string, signal: AbortSignal): Promise<Artefact | undefined> {
    const hash = createHash('sha256');
    let bytes = 0;
    const status = await this.#request(url, signal, 'GET', (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
    });
    return status !== undefined && status < 300 ? { url, bytes, sha256: hash.digest('hex') } : undefined;
  }

  /**
   * A response with Retry-After is repeated then, without a limit, as iPXE does (src/net/tcp/httpcore.c).
   * @returns the status; undefined when the response was incomplete.
   */
  async #request(url: string, signal: AbortSignal, method: 'GET' | 'POST', onChunk: (chunk: Uint8Array) => void) {
    for (;;) {
      const { status, retryAfterMs } = await this.#send(url, signal, method, onChunk);
      if (retryAfterMs === undefined) return status;
      await this.#options.clock.sleep(retryAfterMs, signal);
    }
  }

  async #send(url: string, signal: AbortSignal, method: 'GET' | 'POST', onChunk: (chunk: Uint8Array) => void) {
    signal.throwIfAborted();
    let bytes = 0;
    let status: number | undefined;
    try {
      const response = await this.#options.fetch(url, {
        method,
        headers: { 'user-agent': this.#options.userAgent },
        signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
      });
      const retryAfterMs = retryAfterOf(response);
      if (retryAfterMs !== undefined) await response.body?.cancel();
      // A body is an async iterable of bytes, which its type leaves open.
      else
        for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
          bytes += chunk.length;
          onChunk(chunk);
        }
      status = response.status;
      return { status, retryAfterMs };
    } catch {
      signal.throwIfAborted();
      return { status, retryAfterMs: undefined };
    } finally {
      this.#record({ at: this.#options.clock.now(), method, url, status, bytes });
    }
  }

  #record(request: MachineRequest): void {
    this.requests.push(request);
    if (this.requests.length > maxRequests) this.requests.splice(0, maxRequests / 2);
  }
}

function retryAfterOf({ status, headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? '');
  return status === 503 && seconds > 0 ? seconds * 1_000 : undefined;
}

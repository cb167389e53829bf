import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { type Dispatcher, EnvHttpProxyAgent, interceptors, request } from 'undici';

const connectWithinMs = 5_000;
const answerWithinMs = 30_000;
const idleTimeoutMs = 15_000;
const mostRedirections = 5;
const mostAttempts = 3;

export interface DownloadOptions {
  readonly url: string;
  /** Kept when the connection is cut; the next download to it continues there. */
  readonly path: string;
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY are respected. */
  readonly environment: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  /** Bytes that are there, of the bytes that there will be. */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined;
}

/** Downloads a file. A cut connection is continued, as long as each attempt receives something. */
export async function download(options: DownloadOptions): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const agent = agentFor(options.environment);
  stack.defer(() => agent.destroy());
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: mostRedirections }));
  for (let attempt = 1; ; attempt += 1) {
    const before = await sizeOf(options.path);
    try {
      return await receive(options, dispatcher);
    } catch (error) {
      options.signal?.throwIfAborted();
      const isWorthAnother = (await sizeOf(options.path)) > before && attempt < mostAttempts;
      if (!isWorthAnother || isOfFile(error)) throw error;
    }
  }
}

export async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

/** Of lower case too, as curl has it. */
function agentFor(environment: NodeJS.ProcessEnv): EnvHttpProxyAgent {
  const connect = { timeout: connectWithinMs };
  const valueOf = (name: string) => environment[name.toLowerCase()] ?? environment[name] ?? '';
  return new EnvHttpProxyAgent({
    httpProxy: valueOf('HTTP_PROXY'),
    httpsProxy: valueOf('HTTPS_PROXY'),
    noProxy: valueOf('NO_PROXY'),
    connect,
    proxyTls: connect,
    requestTls: connect,
    headersTimeout: answerWithinMs,
    bodyTimeout: idleTimeoutMs,
  });
}

async function receive({ url, path, signal, onProgress }: DownloadOptions, dispatcher: Dispatcher): Promise<void> {
  const offset = await sizeOf(path);
  const headers = offset > 0 ? { range: `bytes=${offset}-` } : {};
  const { statusCode, headers: answer, body } = await request(url, { dispatcher, headers, signal: signal ?? null });
  const start = startOf(statusCode, answer['content-range'], offset);
  if (start === undefined) {
    await body.dump();
    // Nothing is after the end of a complete file; its digest decides.
    if (statusCode === 416 && offset > 0) return;
    throw new Error(`the server responded with HTTP ${statusCode}`);
  }
  const total = start + Number(answer['content-length'] ?? Number.NaN);
  await using file = await open(path, start === 0 ? 'w' : 'a');
  await write(body, file, (written) => onProgress?.(start + written, total));
}

/** Where the content belongs: a server without ranges sends the whole file. Undefined: there is no content. */
function startOf(statusCode: number, range: string | string[] | undefined, offset: number): number | undefined {
  if (statusCode === 200) return 0;
  if (statusCode !== 206) return undefined;
  if (String(range).startsWith(`bytes ${offset}-`)) return offset;
  throw new Error(`the server sent the range "${String(range)}" instead of "bytes ${offset}-"`);
}

async function write(body: AsyncIterable<Buffer>, file: FileHandle, report: (written: number) => void): Promise<void> {
  let written = 0;
  for await (const chunk of body) {
    await file.writeFile(chunk);
    written += chunk.length;
    report(written);
  }
}

/** A full disk, for example: another attempt does not help. */
const isOfFile = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && ['open', 'write'].includes(String(error.syscall));

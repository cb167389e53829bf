import type { FileHandle } from 'node:fs/promises';
import { open, rm, stat } from 'node:fs/promises';
import { type Dispatcher, EnvHttpProxyAgent, interceptors, Pool, request } from 'undici';

const connectWithinMs = 5_000;
const idleTimeoutMs = 15_000;
const mostRedirections = 5;
const mostAttempts = 3;
const proxySchemes = ['http:', 'https:', 'socks:', 'socks5:'];

const defaultLimits = { bytes: 300e6, answerWithinMs: 30_000, withinMs: 20 * 60_000 };

export interface DownloadOptions {
  readonly url: string;
  /** Kept when the connection is cut; the next download to it continues there. */
  readonly path: string;
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY are respected. */
  readonly environment: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  /** Bytes that are there, of the bytes that there will be. */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined;
  /** Default: 300 MB, 30 s until a server or proxy responds, 20 minutes for everything. */
  readonly limits?: Partial<typeof defaultLimits> | undefined;
}

type Receiving = DownloadOptions & { readonly signal: AbortSignal; readonly maxBytes: number };

class TooLarge extends Error {}

/**
 * Downloads a file. A cut connection is continued, as long as each attempt receives something. What is too large, for the limit
 * or for the disk, is removed.
 */
export async function download(options: DownloadOptions): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const limits = { ...defaultLimits, ...options.limits };
  const agent = agentFor(options.environment, limits.answerWithinMs);
  stack.defer(() => agent.destroy());
  const deadline = new AbortController();
  const late = () => deadline.abort(new Error(`the download did not end within ${limits.withinMs / 1_000} s`));
  const timer = setTimeout(late, limits.withinMs);
  stack.defer(() => clearTimeout(timer));
  const signal = AbortSignal.any([deadline.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  signal.throwIfAborted();
  // A request without a connection, or behind a proxy that does not respond, ignores its signal.
  signal.addEventListener('abort', () => void agent.destroy(), { once: true });
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: mostRedirections }));
  for (let attempt = 1; ; attempt += 1) {
    const before = await sizeOf(options.path);
    try {
      return await receive({ ...options, signal, maxBytes: limits.bytes }, dispatcher);
    } catch (error) {
      signal.throwIfAborted();
      if (isTooLarge(error)) await rm(options.path, { force: true });
      const isWorthAnother = (await sizeOf(options.path)) > before && attempt < mostAttempts;
      if (!isWorthAnother || isOfFile(error) || isTooLarge(error)) throw error;
    }
  }
}

export async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

function agentFor(environment: NodeJS.ProcessEnv, answerWithinMs: number): EnvHttpProxyAgent {
  const connect = { timeout: connectWithinMs };
  return new EnvHttpProxyAgent({
    httpProxy: proxyOf(environment, 'HTTP_PROXY'),
    httpsProxy: proxyOf(environment, 'HTTPS_PROXY'),
    noProxy: valueOf(environment, 'NO_PROXY'),
    // The client that sends CONNECT has no time limit of its own.
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: answerWithinMs }),
    connect,
    proxyTls: connect,
    requestTls: connect,
    headersTimeout: answerWithinMs,
    bodyTimeout: idleTimeoutMs,
  });
}

/** Of lower case too, as curl has it. */
const valueOf = (environment: NodeJS.ProcessEnv, name: string): string =>
  environment[name.toLowerCase()] ?? environment[name] ?? '';

/** Without a scheme it is HTTP, as curl has it. An error does not repeat the URL, which may have a password. */
function proxyOf(environment: NodeJS.ProcessEnv, name: string): string {
  const value = valueOf(environment, name);
  const url = value === '' || value.includes('://') ? value : `http://${value}`;
  if (url === '' || (URL.canParse(url) && proxySchemes.includes(new URL(url).protocol))) return url;
  throw new Error(`expected a URL as http://proxy.example:3128 in ${name}, found something else`);
}

async function receive(receiving: Receiving, dispatcher: Dispatcher): Promise<void> {
  const { url, path, signal, maxBytes, onProgress } = receiving;
  const offset = await sizeOf(path);
  const headers = offset > 0 ? { range: `bytes=${offset}-` } : {};
  const { statusCode, headers: answer, body } = await request(url, { dispatcher, headers, signal });
  const start = startOf(statusCode, answer['content-range'], offset);
  if (start === undefined) {
    await body.dump();
    // Nothing is after the end of a complete file; its digest decides.
    if (statusCode === 416 && offset > 0) return;
    throw new Error(`the server responded with HTTP ${statusCode}`);
  }
  const total = start + Number(answer['content-length'] ?? Number.NaN);
  await using file = await open(path, start === 0 ? 'w' : 'a');
  await write(body, file, (received) => {
    if (received > maxBytes - start) throw new TooLarge(`expected at most ${maxBytes / 1e6} MB, the server sends more`);
    onProgress?.(start + received, total);
  });
}

/** Where the content belongs: a server without ranges sends the whole file. Undefined: there is no content. */
function startOf(statusCode: number, range: string | string[] | undefined, offset: number): number | undefined {
  if (statusCode === 200) return 0;
  if (statusCode !== 206) return undefined;
  if (String(range).startsWith(`bytes ${offset}-`)) return offset;
  throw new Error(`the server sent the range "${String(range)}" instead of "bytes ${offset}-"`);
}

async function write(body: AsyncIterable<Buffer>, file: FileHandle, check: (received: number) => void): Promise<void> {
  let received = 0;
  for await (const chunk of body) {
    await file.writeFile(chunk);
    received += chunk.length;
    check(received);
  }
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof TooLarge ||
  (error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String(error.code)));

/** A missing permission, for example: another attempt does not help. */
const isOfFile = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && ['open', 'write'].includes(String(error.syscall));

import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ArtefactStore, Wanted } from './artefact-store.ts';
import { BootError } from '../errors.ts';
import { printableUrl } from './image-url.ts';

/** The conditions and the range of a request for an artefact (RFC 9110). */
export interface ArtefactRequest {
  method: 'GET' | 'HEAD';
  range: string | undefined;
  ifRange: string | undefined;
  ifNoneMatch: string | undefined;
  signal: AbortSignal;
}

export interface ArtefactResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** With backpressure. A reader that does not read it to the end destroys it. */
  readonly body: Readable | undefined;
}

/** A file that machines load, such as a kernel: from disk, from a URL or from a registry. */
export interface Artefact {
  readonly name: string;
  /** Of its content, if known in advance. */
  readonly digest?: string;
  /** @throws BootError if it does not exist or its source does not respond */
  check(signal: AbortSignal): Promise<void>;
  /** @throws BootError as `check` */
  deliver(request: ArtefactRequest): Promise<ArtefactResponse>;
}

export function fileArtefact(path: string, contentType = 'application/octet-stream'): Artefact {
  const openFile = async () => {
    const handle = await open(path, 'r').catch((cause: unknown) => {
      throw new BootError('ArtefactMissing', `${path} cannot be read; expected a file to boot from there`, cause);
    });
    const stat = await handle.stat();
    if (stat.isFile())
      return { handle, size: stat.size, etag: `"${stat.size.toString(36)}-${Math.round(stat.mtimeMs).toString(36)}"` };
    await handle.close();
    throw new BootError('ArtefactMissing', `${path} is not a file; expected one to boot from there`);
  };
  return {
    name: path,
    check: async () => (await openFile()).handle.close(),
    deliver: async (request) => {
      const { handle, size, etag } = await openFile();
      const plan = planOf(request, size, etag);
      return artefactResponseOf(handle, { ...plan, headers: { ...plan.headers, 'content-type': contentType } });
    },
  };
}

/** A file of an OCI image: pulled when the boot is prepared, or by the first request, which waits for the whole file. */
export function storedArtefact(
  store: ArtefactStore,
  wanted: Wanted,
  contentType = 'application/octet-stream',
): Artefact {
  return {
    name: wanted.name,
    digest: wanted.digest,
    check: (signal) => store.hold(wanted, signal),
    deliver: async (request) => {
      const handle = await store.open(wanted, request.signal);
      const plan = planOf(request, (await handle.stat()).size, `"${wanted.digest}"`);
      return artefactResponseOf(handle, { ...plan, headers: { ...plan.headers, 'content-type': contentType } });
    },
  };
}

async function artefactResponseOf(handle: FileHandle, plan: Plan): Promise<ArtefactResponse> {
  if (plan.span !== undefined)
    return { ...plan, body: handle.createReadStream({ start: plan.span.first, end: plan.span.last }) };
  await handle.close();
  return { ...plan, body: undefined };
}

interface Plan {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Bytes to send; undefined when there are none. */
  readonly span: { first: number; last: number } | undefined;
}

/** Turns conditions and ranges (RFC 9110) into a status, headers and the bytes to send. */
export function planOf(
  { method, range, ifRange, ifNoneMatch }: Omit<ArtefactRequest, 'signal'>,
  size: number,
  etag: string,
): Plan {
  const headers: Record<string, string> = {
    etag,
    'accept-ranges': 'bytes',
    'content-type': 'application/octet-stream',
  };
  if (ifNoneMatch !== undefined && ifNoneMatch.split(',').some((tag) => tag.trim() === etag))
    return { status: 304, headers, span: undefined };
  const isPart = method === 'GET' && (ifRange === undefined || ifRange === etag);
  const span = isPart ? spanOf(range, size) : 'all';
  if (span === 'outside')
    return {
      status: 416,
      headers: { ...headers, 'content-range': `bytes */${size}`, 'content-length': '0' },
      span: undefined,
    };
  if (span === 'all') headers['content-length'] = String(size);
  else
    Object.assign(headers, {
      'content-length': String(span.last - span.first + 1),
      'content-range': `bytes ${span.first}-${span.last}/${size}`,
    });
  const bytes = span === 'all' ? { first: 0, last: size - 1 } : span;
  return { status: span === 'all' ? 200 : 206, headers, span: method === 'HEAD' || size === 0 ? undefined : bytes };
}

/** A request for several ranges gets the whole file, as RFC 9110 permits. */
const singleRange = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/;

function spanOf(range: string | undefined, size: number): 'all' | 'outside' | { first: number; last: number } {
  const [, from, to = '', length] = singleRange.exec(range ?? '') ?? [];
  if (from === undefined && length === undefined) return 'all';
  const first = from === undefined ? Math.max(0, size - Number(length)) : Number(from);
  if (to !== '' && Number(to) < first) return 'all';
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  return first > last ? 'outside' : { first, last };
}

const relayedHeaders = ['content-length', 'content-range', 'etag', 'last-modified', 'accept-ranges'];

export function urlArtefact(url: URL, fetch: (url: URL, init: RequestInit) => Promise<Response>): Artefact {
  const name = printableUrl(url);
  const fetchArtefact = async (init: RequestInit): Promise<Response> => {
    try {
      return await fetch(url, { ...init, redirect: 'follow' });
    } catch (cause) {
      throw new BootError('ArtefactUnreachable', `${name} cannot be fetched: ${messageOf(cause)}`, cause);
    }
  };
  return {
    name,
    check: async (signal) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
      const head = await fetchArtefact({ method: 'HEAD', signal: limit });
      const lacksHead = head.status === 405 || head.status === 501;
      const response = lacksHead
        ? await fetchArtefact({ method: 'GET', headers: { range: 'bytes=0-0' }, signal: limit })
        : head;
      await response.body?.cancel();
      requireFound(response, name);
    },
    deliver: async ({ method, range, ifRange, ifNoneMatch, signal }) => {
      const part = method === 'GET' && singleRange.test(range ?? '') ? range : undefined;
      const wanted = { range: part, 'if-range': ifRange, 'if-none-match': ifNoneMatch };
      // Kernels and initrds are compressed; with a content encoding the relayed length would be wrong.
      const headers = new Headers({ 'accept-encoding': 'identity' });
      for (const [name, value] of Object.entries(wanted)) if (value !== undefined) headers.set(name, value);
      const response = await fetchArtefact({ method, headers, signal });
      if (response.status !== 304 && response.status !== 416) requireFound(response, name);
      return {
        status: response.status,
        headers: headersToRelay(response),
        body: response.body === null ? undefined : Readable.fromWeb(response.body),
      };
    },
  };
}

/** The error of fetch has its details in `cause`; that of several failed addresses has only a code. */
function messageOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(inner instanceof Error)) return String(inner);
  return inner.message || ('code' in inner ? String(inner.code) : inner.name);
}

function headersToRelay(response: Response): Record<string, string> {
  const relayed = relayedHeaders.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return { 'content-type': 'application/octet-stream', ...Object.fromEntries(relayed) };
}

function requireFound(response: Response, name: string): void {
  if (response.ok) return;
  const code = response.status >= 500 ? 'ArtefactUnreachable' : 'ArtefactMissing';
  throw new BootError(code, `${name} answers ${response.status}; expected a kernel or initrd there`);
}

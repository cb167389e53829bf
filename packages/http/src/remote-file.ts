import { Readable } from 'node:stream';
import { RedirectError, withinOrigin } from './within-origin.ts';

export interface RemoteFileRequest {
  readonly url: URL;
  /** Value of the header Authorization; a function, so that no log contains it. */
  readonly authorization?: (() => string) | undefined;
  /** The response is `NotModified` while the file still has it. */
  readonly validator?: Validator | undefined;
  readonly signal: AbortSignal;
}

/** Header of a response that tells versions of a file apart. */
export type Validator = { readonly etag: string } | { readonly lastModified: string };

export type OpenedFile =
  | {
      readonly kind: 'Open';
      readonly size: number | undefined;
      readonly validator: Validator | undefined;
      /** A reader that does not read it to the end destroys it. */
      readonly body: Readable;
    }
  | { readonly kind: 'NotModified' }
  /** The server does not return the file. The message has no address. */
  | { readonly kind: 'Rejected'; readonly message: string }
  /** Nobody responds, or the server fails at present. The message has no address. */
  | { readonly kind: 'Unreachable'; readonly message: string };

/** Opens a file of an HTTP server. Redirects are followed within its origin, so that credentials are sent nowhere else. */
export async function openRemoteFile(
  fetch: typeof globalThis.fetch,
  { url, authorization, validator, signal }: RemoteFileRequest,
): Promise<OpenedFile> {
  const headers = new Headers({ 'accept-encoding': 'identity' });
  if (authorization !== undefined) headers.set('authorization', authorization());
  if (validator !== undefined)
    if ('etag' in validator) headers.set('if-none-match', validator.etag);
    else headers.set('if-modified-since', validator.lastModified);
  try {
    return await openedFile(await withinOrigin(fetch)(url, { headers, signal }));
  } catch (error) {
    if (error instanceof RedirectError) return { kind: 'Rejected', message: error.message };
    return { kind: 'Unreachable', message: causeOf(error) };
  }
}

/** As RFC 7617 has it, in UTF-8. */
export const basicAuthorization = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

async function openedFile(response: Response): Promise<OpenedFile> {
  if (response.status === 200 && response.body !== null) {
    const length = response.headers.get('content-length');
    return {
      kind: 'Open',
      size: length === null ? undefined : Number(length),
      validator: validatorOf(response.headers),
      body: Readable.fromWeb(response.body),
    };
  }
  await response.body?.cancel();
  if (response.status === 304) return { kind: 'NotModified' };
  const isTemporary = response.status >= 500 || response.status === 429 || response.status === 408;
  return { kind: isTemporary ? 'Unreachable' : 'Rejected', message: `its server responds with ${response.status}` };
}

function validatorOf(headers: Headers): Validator | undefined {
  const etag = headers.get('etag');
  if (etag !== null && !etag.startsWith('W/')) return { etag };
  const lastModified = headers.get('last-modified');
  return lastModified === null ? undefined : { lastModified };
}

/** The error of fetch has its details in `cause`; that of several failed addresses has only a code. */
export function causeOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(inner instanceof Error)) return 'it cannot be fetched';
  return 'code' in inner ? String(inner.code) : inner.message || inner.name;
}

import { BootError } from '../../errors.ts';
import { type ImageReference, textOf } from './reference.ts';
import * as z from 'zod';

export interface RegistryRequest {
  readonly reference: ImageReference;
  /** Relative to `/v2/<repository>/`. */
  readonly path: string;
  readonly accept?: string;
  readonly signal: AbortSignal;
}

const tokenResponse = z.object({
  token: z.string().optional(),
  access_token: z.string().optional(),
  expires_in: z.number().optional(),
});

export function unreachable(registry: string, cause: unknown): BootError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const reason = inner instanceof Error ? inner.message || String('code' in inner ? inner.code : inner) : String(inner);
  return new BootError('RegistryUnreachable', `registry ${registry} does not answer: ${reason}`, cause);
}

export function errorOf(status: number, { reference, path }: RegistryRequest, isAnonymous = false): BootError {
  const what = `"${textOf(reference)}" (${path.replace(/\/.*/s, '')})`;
  if (status === 401 || status === 403)
    return new BootError(
      'RegistryDenied',
      `registry ${reference.registry} answers ${status} for ${what}; ${
        isAnonymous
          ? 'it wants credentials, and there are none for it in --registry-credentials-file'
          : 'the credentials do not suffice'
      }`,
    );
  if (status === 404)
    return new BootError(
      'ImageMissing',
      `registry ${reference.registry} has no ${what}; push it, or correct the image`,
    );
  return new BootError('RegistryUnreachable', `registry ${reference.registry} answers ${status} for ${what}`);
}

/** Reads a body of bounded size. */
export async function read(response: Response, maxBytes: number, { registry }: ImageReference): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw unreachable(registry, cause);
  }
  if (size <= maxBytes) return Buffer.concat(chunks);
  throw new BootError('ImageMalformed', `registry ${registry} sends more than ${maxBytes} bytes for a small document`);
}

export function parsedToken(text: string, { registry }: ImageReference): z.output<typeof tokenResponse> {
  try {
    return tokenResponse.parse(JSON.parse(text));
  } catch {
    // The text may contain the token.
    throw new BootError('RegistryDenied', `registry ${registry} gives out a token that is not understood`);
  }
}

import { PassThrough, Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { DiskImageEncoding } from '@metal/api/common/disk-image.ts';
import { DeploymentFailed } from './failure.ts';

const decompressors: Readonly<Record<DiskImageEncoding, () => Transform>> = {
  none: () => new PassThrough(),
  gzip: createGunzip,
  zstd: createZstdDecompress,
};

/** Transient; every other status is final. */
const isTransient = (status: number): boolean => status >= 500 || status === 429 || status === 408;

/**
 * The disk of an image, as the boot service sends it.
 * @throws Error that a retry may help; DeploymentFailed `ImageNotReceived` for a final answer
 */
export async function openImage(
  url: URL,
  encoding: DiskImageEncoding,
  { fetch, signal }: { fetch: typeof globalThis.fetch; signal: AbortSignal },
): Promise<Readable> {
  const response = await requireOk(await fetch(url, { headers: { 'accept-encoding': 'identity' }, signal }));
  const decompressed = decompressors[encoding]();
  // An error reaches the reader by way of the last stream.
  pipeline(Readable.fromWeb(response.body ?? new ReadableStream()), decompressed, { signal }).catch(() => undefined);
  return decompressed;
}

export async function fetchJson(
  url: URL,
  { fetch, signal }: { fetch: typeof globalThis.fetch; signal: AbortSignal },
): Promise<unknown> {
  return (await requireOk(await fetch(url, { signal }))).json();
}

async function requireOk(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = (await response.text().catch(() => '')).slice(0, 200).trim();
  const answer = `the boot service answered HTTP ${response.status} ${text}`.trim();
  if (isTransient(response.status)) throw new Error(answer);
  throw new DeploymentFailed('ImageNotReceived', answer);
}

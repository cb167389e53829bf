import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { BootError } from '../errors.ts';

/** The content that an artefact must have. */
export interface ExpectedContent {
  /** As algorithm:hex, of sha256, sha512 or md5. */
  readonly digest: string;
  /** Undefined for a document of a few kilobytes, or a disk image, whose size is not known beforehand. */
  readonly size: number | undefined;
  /** The content may have any size that the store has room for. */
  readonly isLarge?: boolean;
  /** For messages. */
  readonly name: string;
}

export const algorithmOf = (digest: string): string => digest.slice(0, digest.indexOf(':'));

const maxDocumentBytes = 4 * 1_048_576;

/** A stream that counts and hashes its data, and a check of the result. The stream fails beyond the expected size. */
export function verifyingStream(
  { digest, size, name, isLarge = false }: ExpectedContent,
  onData: () => void,
  storeBytes = Number.POSITIVE_INFINITY,
) {
  const algorithm = algorithmOf(digest);
  const hash = createHash(algorithm);
  const maxBytes = size ?? (isLarge ? storeBytes : maxDocumentBytes);
  let count = 0;
  const differs = (what: string) =>
    new BootError('DigestMismatch', `${name} is not what its image says: ${what}; nothing of it is served`);
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onData();
      count += chunk.length;
      hash.update(chunk);
      // A source that sends more than expected must not fill the disk.
      if (count > maxBytes && isLarge) done(tooLarge(name, maxBytes));
      else if (count > maxBytes) done(differs(`it is longer than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
  const requireExpected = (): void => {
    if (size !== undefined && count !== size) throw differs(`it has ${count} bytes, expected ${size}`);
    const actual = `${algorithm}:${hash.digest('hex')}`;
    if (actual !== digest) throw differs(`its digest is ${actual}, expected ${digest}`);
  };
  return { stream, requireExpected, bytes: () => count };
}

const tooLarge = (name: string, maxBytes: number): BootError =>
  new BootError('ArtefactTooLarge', `${name} has more than ${maxBytes} bytes, the limit by --boot-cache-size`);

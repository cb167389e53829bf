import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { BootError } from '../errors.ts';

/** The content that an artefact must have. */
export interface ExpectedContent {
  readonly digest: string;
  /** Undefined for a document of a few kilobytes whose size is not known beforehand. */
  readonly size: number | undefined;
  /** For messages. */
  readonly name: string;
}

const maxDocumentBytes = 4 * 1_048_576;

/** A stream that counts and hashes its data, and a check of the result. The stream fails beyond the expected size. */
export function verifyingStream({ digest, size, name }: ExpectedContent, onData: () => void) {
  const hash = createHash('sha256');
  const maxBytes = size ?? maxDocumentBytes;
  let count = 0;
  const differs = (what: string) =>
    new BootError('DigestMismatch', `${name} is not what its image says: ${what}; nothing of it is served`);
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onData();
      count += chunk.length;
      hash.update(chunk);
      // A source that sends more than expected must not fill the disk.
      if (count > maxBytes) done(differs(`it is longer than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
  const requireExpected = (): void => {
    if (size !== undefined && count !== size) throw differs(`it has ${count} bytes, expected ${size}`);
    const actual = `sha256:${hash.digest('hex')}`;
    if (actual !== digest) throw differs(`its digest is ${actual}, expected ${digest}`);
  };
  return { stream, requireExpected, bytes: () => count };
}

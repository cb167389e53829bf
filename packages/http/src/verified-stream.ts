import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

/** The content that a stream must have. What is undefined is measured only. */
export interface ExpectedBytes {
  readonly size?: number | undefined;
  /** SHA-256, in hex. */
  readonly sha256?: string | undefined;
  readonly maxBytes: number;
}

/** The bytes of a stream are not those that were expected. The message has no address. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
}

/**
 * A stream that counts and hashes its data. It fails beyond the limit, and at the end if size or hash differ; the last chunk passes
 * only after that check, so that a reader never has all bytes of another content.
 */
export function verifiedStream({ size, sha256, maxBytes }: ExpectedBytes) {
  const hash = createHash('sha256');
  let count = 0;
  let held: Buffer | undefined;
  let digest = '';
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      count += chunk.length;
      if (count > (size ?? maxBytes)) return done(new ContentError(`it is longer than ${size ?? maxBytes} bytes`));
      hash.update(chunk);
      const passed = held;
      held = chunk;
      done(null, passed);
    },
    flush(done) {
      digest = hash.digest('hex');
      if (size !== undefined && count !== size)
        return done(new ContentError(`it has ${count} bytes, expected ${size}`));
      if (sha256 !== undefined && digest !== sha256)
        return done(new ContentError(`its SHA-256 is ${digest}, expected ${sha256}`));
      done(null, held);
    },
  });
  /** Valid when the stream has ended. */
  return { stream, result: () => ({ size: count, sha256: digest }) };
}

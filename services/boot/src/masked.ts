/** A value that may contain credentials: prints as *** in logs and errors. */
export abstract class Masked {
  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '***';
  }
}

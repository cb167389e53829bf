/** What may hold credentials: however it comes into a log or an error, it prints as ***. */
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

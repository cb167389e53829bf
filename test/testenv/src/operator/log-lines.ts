import { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';

const timeoutMs = 120_000;

/** A log that a test can wait on: some progress of a program is visible only in its log. */
export class LogLines {
  readonly log: Logger;
  readonly #lines: string[] = [];
  readonly #listeners = new Set<(line: string) => void>();

  constructor() {
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#append(chunk.toString());
        done();
      },
    });
    this.log = pino({ level: 'debug' }, stream);
  }

  /** Resolves with the next line from now on that matches; fails with all lines after a timeout. */
  next(pattern: RegExp): Promise<string> {
    return this.#wait(String(pattern), (line) => pattern.test(line));
  }

  /** Resolves when the condition holds; it is checked with each line. */
  async until(holds: () => boolean): Promise<void> {
    if (!holds()) await this.#wait(String(holds), holds);
  }

  async #wait(description: string, matches: (line: string) => boolean): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const listener = (line: string) => matches(line) && resolve(line);
    this.#listeners.add(listener);
    const timer = setTimeout(
      () => reject(new Error(`no log line matches ${description}:\n${this.#lines.join('')}`)),
      timeoutMs,
    );
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#listeners.delete(listener);
    }
  }

  #append(line: string): void {
    this.#lines.push(line);
    for (const listener of this.#listeners) listener(line);
  }
}

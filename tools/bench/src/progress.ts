import type { WriteStream } from 'node:tty';

const showAfterMs = 2_000;
const everyMs = { terminal: 500, file: 10_000 } as const;
const clearLine = '\r\u001B[2K';

/** Prints the progress of operations longer than two seconds: one updated line on a terminal, occasional lines elsewhere. */
export class Progress {
  readonly #out: Pick<WriteStream, 'isTTY' | 'write'>;

  constructor(out: Pick<WriteStream, 'isTTY' | 'write'>) {
    this.#out = out;
  }

  log(line: string): void {
    this.#out.write(`${line}\n`);
  }

  async during<T>(title: string, formatProgress: () => string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4);
    const show = () => {
      const line = `${seconds()} s  ${title}: ${formatProgress()}`;
      this.#out.write(this.#out.isTTY ? `${clearLine}${line}` : `${line}\n`);
    };
    let timer = setTimeout(() => {
      show();
      timer = setInterval(show, this.#out.isTTY ? everyMs.terminal : everyMs.file);
    }, showAfterMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      if (this.#out.isTTY) this.#out.write(clearLine);
    }
  }
}

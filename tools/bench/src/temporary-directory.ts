import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Removed when disposed or when this process exits. */
export class TemporaryDirectory implements Disposable {
  readonly path: string;
  readonly #remove = (): void => rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });

  private constructor(path: string) {
    this.path = path;
    process.once('exit', this.#remove);
  }

  static async make(prefix: string): Promise<TemporaryDirectory> {
    return new TemporaryDirectory(await mkdtemp(join(tmpdir(), prefix)));
  }

  [Symbol.dispose](): void {
    process.removeListener('exit', this.#remove);
    this.#remove();
  }
}

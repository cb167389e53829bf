import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A directory with one small file per machine. dnsmasq watches it (inotify): it reads a new or replaced file at once and adds
 * its entries, of which the last one counts. It drops the entries of removed files only upon SIGHUP.
 */
export class RecordFiles {
  readonly #directory: string;
  readonly #onForget: () => void;
  #written: Map<string, string> | undefined;

  /** `onForget` is called for each removed file, also if a later write fails. */
  constructor(directory: string, onForget: () => void) {
    this.#directory = directory;
    this.#onForget = onForget;
  }

  /** Names of the existing files. */
  async names(): Promise<string[]> {
    return [...(await this.#known()).keys()];
  }

  /**
   * Writes these files, and removes those without text; other files stay. A failed write does not prevent the others.
   * @throws the first error, after all writes
   */
  async change(files: ReadonlyMap<string, string | undefined>): Promise<void> {
    const written = await this.#known();
    const errors: unknown[] = [];
    for (const [name, text] of files) {
      if (written.get(name) === text) continue;
      if (text === undefined) this.#onForget();
      try {
        await this.#put(name, text);
        if (text === undefined) written.delete(name);
        else written.set(name, text);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  async #put(name: string, text: string | undefined): Promise<void> {
    if (text === undefined) await rm(join(this.#directory, name), { force: true });
    else await this.#replace(name, text);
  }

  /** Atomic: dnsmasq ignores names that begin with a dot. */
  async #replace(name: string, text: string): Promise<void> {
    const temporary = join(this.#directory, `.${name}`);
    await writeFile(temporary, text, { mode: 0o644 });
    await rename(temporary, join(this.#directory, name));
  }

  async #known(): Promise<Map<string, string>> {
    this.#written ??= await this.#found();
    return this.#written;
  }

  async #found(): Promise<Map<string, string>> {
    await mkdir(this.#directory, { recursive: true, mode: 0o755 });
    const found = new Map<string, string>();
    for (const name of await readdir(this.#directory))
      found.set(name, await readFile(join(this.#directory, name), 'utf8').catch(() => ''));
    return found;
  }
}

import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A directory with one small file per machine, as dnsmasq watches it: a file that is new or replaced is read at once, and
 * what it says is added to what was known; what was read last is what counts. What goes is forgotten only when dnsmasq is
 * told to read everything anew.
 */
export class RecordFiles {
  readonly #directory: string;
  readonly #onForget: () => void;
  #written: Map<string, string> | undefined;

  /** `onForget` is called for what was removed, also when what comes after that fails. */
  constructor(directory: string, onForget: () => void) {
    this.#directory = directory;
    this.#onForget = onForget;
  }

  /** Names of the files that are there. */
  async names(): Promise<string[]> {
    return [...(await this.#known()).keys()];
  }

  /**
   * Writes these files, and removes those that have no text any more; the others stay. One that cannot be written holds up
   * no other. @throws the first error, when all were tried
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

  /** Whole or not at all: dnsmasq passes over names that begin with a dot. */
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

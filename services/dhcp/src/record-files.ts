import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The files of one directory by name. */
export type Files = ReadonlyMap<string, string>;

/**
 * A directory with one small file per machine, as dnsmasq watches it: a file that is new or replaced is read at once, and
 * what it says is added to what was known. What goes is forgotten only when dnsmasq is told to read everything anew.
 */
export class RecordFiles {
  readonly #directory: string;
  #written: Map<string, string> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Makes the directory hold just these files; tells whether something was removed or replaced. */
  async write(files: Files): Promise<{ forgets: boolean }> {
    this.#written ??= await this.#found();
    const written = this.#written;
    let forgets = false;
    for (const [name, text] of files) {
      if (written.get(name) === text) continue;
      forgets ||= written.has(name);
      await this.#replace(name, text);
      written.set(name, text);
    }
    for (const name of [...written.keys()].filter((known) => !files.has(known))) {
      await rm(join(this.#directory, name), { force: true });
      written.delete(name);
      forgets = true;
    }
    return { forgets };
  }

  /** Whole or not at all: dnsmasq passes over names that begin with a dot. */
  async #replace(name: string, text: string): Promise<void> {
    const temporary = join(this.#directory, `.${name}`);
    await writeFile(temporary, text, { mode: 0o644 });
    await rename(temporary, join(this.#directory, name));
  }

  async #found(): Promise<Map<string, string>> {
    await mkdir(this.#directory, { recursive: true, mode: 0o755 });
    const found = new Map<string, string>();
    for (const name of await readdir(this.#directory))
      found.set(name, await readFile(join(this.#directory, name), 'utf8').catch(() => ''));
    return found;
  }
}

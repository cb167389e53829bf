import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod';
import { BootError } from '../../errors.ts';
import { canonicalRegistry } from './reference.ts';
import { Masked } from '../../masked.ts';

const file = z.object({
  auths: z
    .record(
      z.string(),
      z.object({ auth: z.string().optional(), username: z.string().optional(), password: z.string().optional() }),
    )
    .optional(),
});

/** Name and password for a registry. Prints as ***. */
export class Credentials extends Masked {
  readonly #text: string;

  constructor(username: string, password: string) {
    super();
    this.#text = `${username}:${password}`;
  }

  revealBasic(): string {
    return `Basic ${Buffer.from(this.#text).toString('base64')}`;
  }
}

/** Credentials by registry from a Docker config.json. Credential helpers are not supported. */
export class RegistryCredentials {
  readonly #path: string | undefined;
  readonly #log: { warn(fields: object, text: string): void } | undefined;
  /** Of the current file; undefined while it is valid. */
  #error: string | undefined;
  #known: { mtimeMs: number; byRegistry: ReadonlyMap<string, Credentials> } | undefined;

  constructor(path: string | undefined, log?: { warn(fields: object, text: string): void }) {
    this.#path = path;
    this.#log = log;
  }

  /** An invalid file leaves the last valid content in use. @throws BootError if there was none yet */
  async of(registry: string): Promise<Credentials | undefined> {
    if (this.#path === undefined) return undefined;
    try {
      const { mtimeMs } = await stat(this.#path);
      if (this.#known?.mtimeMs !== mtimeMs)
        this.#known = { mtimeMs, byRegistry: parseCredentials(await readFile(this.#path, 'utf8')) };
      this.#error = undefined;
      return this.#known.byRegistry.get(registry);
    } catch (cause) {
      // The message of the parser may quote passwords.
      const known = cause instanceof Error && 'code' in cause ? String(cause.code) : 'it is no docker config.json';
      const error = `--registry-credentials-file: ${this.#path}: ${known}`;
      if (this.#known === undefined) throw new BootError('RegistryCredentialsUnreadable', error);
      if (error !== this.#error)
        this.#log?.warn({ error }, 'the credentials file is invalid; its last valid content stays in use');
      this.#error = error;
      return this.#known.byRegistry.get(registry);
    }
  }
}

/** @throws Error for any other file */
export function parseCredentials(text: string): ReadonlyMap<string, Credentials> {
  const { auths = {} } = file.parse(JSON.parse(text));
  const entries = Object.entries(auths).flatMap(([name, { auth, username, password }]): [string, Credentials][] => {
    const [, user = username, secret = password] =
      /^([^:]*):(.*)$/s.exec(Buffer.from(auth ?? '', 'base64').toString('utf8')) ?? [];
    return user === undefined || secret === undefined ? [] : [[registryOf(name), new Credentials(user, secret)]];
  });
  return new Map(entries);
}

/** Docker writes `https://index.docker.io/v1/`. */
const registryOf = (name: string): string => canonicalRegistry(name.replace(/^https?:\/\//, '').replace(/\/.*$/, ''));

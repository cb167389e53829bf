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
  #known: { mtimeMs: number; byRegistry: ReadonlyMap<string, Credentials> } | undefined;

  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** @throws BootError if the file cannot be read */
  async of(registry: string): Promise<Credentials | undefined> {
    if (this.#path === undefined) return undefined;
    try {
      const { mtimeMs } = await stat(this.#path);
      if (this.#known?.mtimeMs !== mtimeMs)
        this.#known = { mtimeMs, byRegistry: parseCredentials(await readFile(this.#path, 'utf8')) };
      return this.#known.byRegistry.get(registry);
    } catch (cause) {
      // The message of the parser may quote passwords.
      const known = cause instanceof Error && 'code' in cause ? String(cause.code) : 'it is no docker config.json';
      throw new BootError('RegistryCredentialsUnreadable', `--registry-credentials-file: ${this.#path}: ${known}`);
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

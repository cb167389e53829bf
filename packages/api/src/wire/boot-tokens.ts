import { createHash } from 'node:crypto';
import type { ServerBootConfiguration } from '../v1alpha1/server-boot-configuration.ts';
import { isBootToken, mintBootToken } from './boot-token.ts';
import type { Cache } from '@metal/kube/cache.ts';

/**
 * Finds the boot configuration a token was minted for. Tokens themselves are not kept: the table holds their hashes,
 * so that how long a search takes says nothing about how close a guess was.
 */
class BootTokens implements Disposable {
  readonly #boots: Cache<ServerBootConfiguration>;
  readonly #key: Uint8Array;
  readonly #keyByHash = new Map<string, string>();
  readonly #listening: Disposable;

  constructor(boots: Cache<ServerBootConfiguration>, key: Uint8Array) {
    this.#boots = boots;
    this.#key = key;
    for (const boot of boots.all()) this.#add(boot);
    this.#listening = boots.onChange(({ before, after }) => {
      if (before?.metadata.uid === after?.metadata.uid) return;
      if (before !== undefined) this.#keyByHash.delete(this.#hashOf(before));
      if (after !== undefined) this.#add(after);
    });
  }

  find(token: string): ServerBootConfiguration | undefined {
    const boot = this.#boots.get(this.#keyByHash.get(hash(token)) ?? '');
    const uid = boot?.metadata.uid;
    return uid !== undefined && isBootToken(this.#key, uid, token) ? boot : undefined;
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  #add(boot: ServerBootConfiguration): void {
    this.#keyByHash.set(this.#hashOf(boot), `${boot.metadata.namespace}/${boot.metadata.name}`);
  }

  #hashOf({ metadata }: ServerBootConfiguration): string {
    return hash(mintBootToken(this.#key, metadata.uid ?? ''));
  }
}

/** Opens the table when it is first needed. A key that cannot be read is asked for again the next time. */
export class LazyBootTokens implements AsyncDisposable {
  readonly #boots: Cache<ServerBootConfiguration>;
  readonly #key: () => Promise<Uint8Array>;
  #opened: Promise<BootTokens> | undefined;

  constructor(boots: Cache<ServerBootConfiguration>, key: () => Promise<Uint8Array>) {
    this.#boots = boots;
    this.#key = key;
  }

  async find(token: string): Promise<ServerBootConfiguration | undefined> {
    this.#opened ??= this.#open();
    return (await this.#opened).find(token);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const tokens = await this.#opened?.catch(() => undefined);
    tokens?.[Symbol.dispose]();
  }

  async #open(): Promise<BootTokens> {
    try {
      return new BootTokens(this.#boots, await this.#key());
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }
}

const hash = (token: string): string => createHash('sha256').update(token).digest('base64');

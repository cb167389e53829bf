import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Cache } from '@metal/kube/cache.ts';
import { keyOf } from '@metal/kube/kind.ts';

/** The keys of boot configurations by the server that they are for: what a server tells may concern all of its own. */
export class BootsByServer implements Disposable {
  readonly #keys = new Map<string, Set<string>>();
  readonly #listening: Disposable;

  constructor(bootConfigurations: Cache<ServerBootConfiguration>) {
    this.#listening = bootConfigurations.onChange(({ key, before, after }) => {
      if (before?.spec.serverRef.name === after?.spec.serverRef.name) return;
      if (before !== undefined) this.#remove(before.spec.serverRef.name, key);
      if (after !== undefined) this.#add(after.spec.serverRef.name, key);
    });
    for (const boot of bootConfigurations.all()) this.#add(boot.spec.serverRef.name, keyOf(boot));
  }

  of(serverName: string): readonly string[] {
    return [...(this.#keys.get(serverName) ?? [])];
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  #add(serverName: string, key: string): void {
    const keys = this.#keys.get(serverName) ?? new Set();
    this.#keys.set(serverName, keys.add(key));
  }

  #remove(serverName: string, key: string): void {
    const keys = this.#keys.get(serverName);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(serverName);
  }
}

import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { isNotFound } from '@metal/kube/errors.ts';

/**
 * Stub of a boot operator: sets each boot configuration to Ready, again if the measured operator overwrites it with Pending from a
 * stale read.
 */
export class BootStub implements Disposable {
  readonly #client: KubeClient;
  readonly #following: Disposable;
  readonly #patching = new Set<string>();

  constructor(client: KubeClient, configurations: Cache<ServerBootConfiguration>) {
    this.#client = client;
    this.#following = configurations.onChange(({ after }) => after !== undefined && this.#markReady(after));
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }

  #markReady({ metadata, status }: ServerBootConfiguration): void {
    const uid = metadata.uid ?? '';
    if (status?.state === 'Ready' || this.#patching.has(uid)) return;
    this.#patching.add(uid);
    const patch = { status: { state: 'Ready' } };
    this.#client
      .mergePatch(ServerBootConfiguration, metadata, patch, { subresource: 'status' })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      })
      .finally(() => this.#patching.delete(uid));
  }
}

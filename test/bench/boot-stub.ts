import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { isNotFound } from '@metal/kube/errors.ts';

/**
 * In the place of a boot operator: says of each boot configuration that it is Ready, also when the measured operator says
 * Pending after that, because it had not seen it yet.
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

import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import { isNotFound } from '@metal/kube/errors.ts';

/** In the place of a boot operator: says of each boot configuration, once, that it is Ready. */
export class BootStandIn implements Disposable {
  readonly #client: KubeClient;
  readonly #following: Disposable;
  readonly #told = new Set<string>();

  constructor(client: KubeClient, configurations: Cache<ServerBootConfiguration>) {
    this.#client = client;
    this.#following = configurations.onChange(({ after }) => after !== undefined && this.#tell(after));
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }

  #tell({ metadata, status }: ServerBootConfiguration): void {
    const uid = metadata.uid ?? '';
    if (status?.state === 'Ready' || this.#told.has(uid)) return;
    this.#told.add(uid);
    const patch = { status: { state: 'Ready' } };
    this.#client
      .mergePatch(ServerBootConfiguration, metadata, patch, { subresource: 'status' })
      .catch((error: unknown) => {
        this.#told.delete(uid);
        if (!isNotFound(error)) throw error;
      });
  }
}

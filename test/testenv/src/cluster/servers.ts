import { Server } from '@metal/api/v1alpha1/server.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { ObjectsOfKind, type ObjectsOfKindOptions } from './objects-of-kind.ts';
import type { WatchedObject } from './watched-object.ts';

export const watchServers = (caches: CacheSet) =>
  caches.watch(Server, { indexes: { uuid: ({ spec }) => [spec.systemUUID.toLowerCase()] } });

export class Servers extends ObjectsOfKind<Server> {
  readonly #client: KubeClient;
  readonly #clock: Clock;

  constructor(options: Omit<ObjectsOfKindOptions<Server>, 'kind' | 'phase'>, clock: Clock) {
    super({ ...options, kind: Server, phase: ({ status }) => status?.state });
    this.#client = options.client;
    this.#clock = clock;
  }

  withUuid(systemUuid: string): WatchedObject<Server> {
    return this.found(`server ${systemUuid}`, () => this.by('uuid', systemUuid.toLowerCase())[0]);
  }

  /** Requests an operation by annotation, as a user would. */
  requestOperation({ metadata }: Server, operation: string): Promise<Server> {
    return this.patch(metadata.name, { metadata: { annotations: { 'metal.ironcore.dev/operation': operation } } });
  }

  /** A condition that another program reports on the server. */
  async reportCondition({ uuid }: Node, type: string, status: 'True' | 'False'): Promise<void> {
    const { metadata } = await this.withUuid(uuid).exists();
    const lastTransitionTime = new Date(this.#clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const condition = { type, status, reason: 'Reported', message: 'by a story', lastTransitionTime };
    await this.#client.apply(
      Server,
      { metadata: { name: metadata.name }, status: { conditions: [condition] } },
      { fieldManager: `story-${type}`, subresource: 'status', force: true },
    );
  }
}

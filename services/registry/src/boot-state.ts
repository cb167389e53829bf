import { fieldManager } from './guarded-put.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { isConflict } from '@metal/kube/errors.ts';
import { RegistryError } from './registry-error.ts';

const type = 'BootStateReceived';

/** The boot service writes to the same object while a machine boots, at most this often. */
const maxAttempts = 5;

/**
 * Records that the booted system reported its start: once per generation of the boot configuration.
 *
 * The watch may lag behind, and a late report of an earlier system must not be recorded on a boot configuration that was
 * recreated under the same name. The API server ignores a UID in a write of the status, so the resource version guards it.
 * @throws RegistryError NotReady for a recreated boot configuration; the client retries until the watch has caught up
 */
export async function recordBootState(
  boot: ServerBootConfiguration,
  { client, clock }: { client: KubeClient; clock: Clock },
): Promise<void> {
  if (hasBooted(boot)) return;
  for (let attempt = 1; ; attempt += 1) {
    const current = await client.find(ServerBootConfiguration, boot.metadata);
    if (current === undefined || current.metadata.uid !== boot.metadata.uid)
      throw new RegistryError('NotReady', 'the boot configuration of this server has just changed; try again', {
        retryAfterSeconds: 5,
      });
    // The boot service may have recorded it in the meantime.
    if (hasBooted(current)) return;
    try {
      await applyBootState(current, client, clock.now());
      return;
    } catch (error) {
      if (!isConflict(error) || attempt === maxAttempts) throw error;
    }
  }
}

async function applyBootState(boot: ServerBootConfiguration, client: KubeClient, now: number): Promise<void> {
  const { name, namespace, resourceVersion, generation } = boot.metadata;
  const condition = {
    type,
    status: 'True',
    reason: type,
    message: 'Server successfully posted boot state',
    lastTransitionTime: new Date(now).toISOString(),
    observedGeneration: generation,
  };
  await client.apply(
    ServerBootConfiguration,
    { metadata: { name, namespace, resourceVersion }, status: { conditions: [condition] } },
    { fieldManager, subresource: 'status', force: isOutdated(boot) },
  );
}

const bootedOf = ({ status }: ServerBootConfiguration) =>
  status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');

const hasBooted = (boot: ServerBootConfiguration): boolean => bootedOf(boot) !== undefined && !isOutdated(boot);

/** The condition belongs to an earlier generation of the boot configuration. */
function isOutdated(boot: ServerBootConfiguration): boolean {
  const of = bootedOf(boot)?.observedGeneration;
  return of !== undefined && of !== boot.metadata.generation;
}

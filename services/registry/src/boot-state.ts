import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { isConflict } from '@metal/kube/errors.ts';
import { HttpError } from './http-error.ts';

const type = 'BootStateReceived';

/** The boot service writes to the same object while a machine boots; more often than this it does not. */
const maxAttempts = 5;

/**
 * Records that the booted system has called home. Once recorded, nothing more is written, until the boot configuration
 * is changed: what booted then has said nothing yet.
 *
 * Our watch may lag behind, and what an earlier system says late must not be said of a boot configuration that was made
 * anew under the same name. The API server ignores a UID in a write of the status, so the version guards it.
 * @throws Refusal NotReady when that is so: it is judged anew when the watch has caught up.
 */
export async function recordBootState(
  boot: ServerBootConfiguration,
  { client, clock }: { client: KubeClient; clock: Clock },
): Promise<void> {
  if (hasBooted(boot)) return;
  for (let attempt = 1; ; attempt += 1) {
    const current = await client.find(ServerBootConfiguration, boot.metadata);
    if (current === undefined || current.metadata.uid !== boot.metadata.uid)
      throw new HttpError('NotReady', 'the boot configuration of this server has just changed; try again', {
        retryAfterSeconds: 5,
      });
    // The boot service may have heard it as well: the same news, told twice.
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
    { fieldManager: 'metal-operator/registry', subresource: 'status', force: isOutdated(boot) },
  );
}

const bootedOf = ({ status }: ServerBootConfiguration) =>
  status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');

const hasBooted = (boot: ServerBootConfiguration): boolean => bootedOf(boot) !== undefined && !isOutdated(boot);

/** It was said of the boot configuration as it was before a change. */
function isOutdated(boot: ServerBootConfiguration): boolean {
  const of = bootedOf(boot)?.observedGeneration;
  return of !== undefined && of !== boot.metadata.generation;
}

import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { isConflict } from '@metal/kube/errors.ts';

const type = 'BootStateReceived';

/**
 * Records that the booted system has called home. Once recorded, nothing more is written, until the boot configuration
 * is changed: what booted then has said nothing yet.
 */
export async function recordBootState(
  boot: ServerBootConfiguration,
  { client, clock }: { client: KubeClient; clock: Clock },
): Promise<void> {
  if (hasBooted(boot)) return;
  const { name, namespace, generation } = boot.metadata;
  const condition = {
    type,
    status: 'True',
    reason: type,
    message: 'Server successfully posted boot state',
    lastTransitionTime: new Date(clock.now()).toISOString(),
    observedGeneration: generation,
  };
  try {
    await client.apply(
      ServerBootConfiguration,
      { metadata: { name, namespace }, status: { conditions: [condition] } },
      { fieldManager: 'metal-operator/registry', subresource: 'status', force: isOutdated(boot) },
    );
  } catch (error) {
    // The boot service has heard it as well and owns the condition now: the same news, told twice.
    if (!isConflict(error) || !hasBooted(await client.get(ServerBootConfiguration, { name, namespace }))) throw error;
  }
}

const bootedOf = ({ status }: ServerBootConfiguration) =>
  status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');

const hasBooted = (boot: ServerBootConfiguration): boolean => bootedOf(boot) !== undefined && !isOutdated(boot);

/** It was said of the boot configuration as it was before a change. */
function isOutdated(boot: ServerBootConfiguration): boolean {
  const of = bootedOf(boot)?.observedGeneration;
  return of !== undefined && of !== boot.metadata.generation;
}

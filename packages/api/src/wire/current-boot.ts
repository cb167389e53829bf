import type { ObjectRef } from '@metal/kube/kinds/kind.ts';
import type { Server } from '../v1alpha1/server.ts';

/** The boot configuration that applies in the current state of the server. */
export function currentBootRef({ spec, status }: Server): ObjectRef | undefined {
  const ref =
    (status?.state === 'Maintenance' ? spec.maintenanceBootConfigurationRef : undefined) ?? spec.bootConfigurationRef;
  return ref?.name === undefined || ref.name === '' ? undefined : { name: ref.name, namespace: ref.namespace };
}

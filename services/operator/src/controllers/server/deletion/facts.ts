import type { Server } from '@metal/api/v1alpha1/server.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { BmcFacts } from '../bmc/facts.ts';
import type { DiscoveryFacts } from '../discovery/facts.ts';

export interface DeletionFacts {
  readonly heldByMaintenance: boolean;
  /** Boot configurations or BIOSSettings of the server are left to delete. */
  readonly bootsLeft: boolean;
  readonly deletionReported: boolean;
}

export function deletionFacts(
  { metadata, spec, status }: Server,
  { deletionReported }: ObservedSystem,
  { bmc }: BmcFacts,
  { probeBoot }: DiscoveryFacts,
): DeletionFacts {
  const allowed = metadata.annotations?.[operationAnnotation] === operations.allowInProgressDelete;
  return {
    heldByMaintenance:
      status?.state === 'Maintenance' && spec.serverMaintenanceRef !== undefined && bmc.exists && !allowed,
    bootsLeft: probeBoot !== undefined || spec.bootConfigurationRef !== undefined || spec.biosSettingsRef !== undefined,
    deletionReported,
  };
}

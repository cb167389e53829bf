import { formerCleanupAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { CleaningMode } from '../provisioner/step-result.ts';

interface Cleaning {
  readonly cleaning: CleaningMode;
  /** Erasure of Servers without a policy of their own. */
  readonly fleetDisks: string;
}

/**
 * The erasure that the host asks for, for this deployment only. Neither a policy that somebody set nor that of the fleet is weakened by
 * the default of hosts. Undefined: the Server has it.
 */
export function policyOf({ metadata, spec }: Server, { cleaning, fleetDisks }: Cleaning) {
  const present = spec.cleanup?.disks ?? '';
  const noted = metadata.annotations?.[formerCleanupAnnotation];
  // Anything else was set by somebody since.
  const former = present === 'None' || present === 'Metadata' ? (noted ?? present) : present;
  const isStrict = former !== '' || fleetDisks !== 'None';
  const wanted = cleaning === 'disabled' ? 'None' : isStrict ? former : 'Metadata';
  if (wanted === present && (noted ?? former) === former) return undefined;
  return {
    metadata: { annotations: { [formerCleanupAnnotation]: former } },
    spec: { cleanup: { disks: wanted === '' ? null : wanted } },
  };
}

/** The erasure policy from before the host, as a patch. */
export function formerPolicyOf({ metadata }: Server) {
  const former = metadata.annotations?.[formerCleanupAnnotation];
  if (former === undefined) return undefined;
  return {
    metadata: { annotations: { [formerCleanupAnnotation]: null } },
    spec: { cleanup: { disks: former === '' ? null : former } },
  };
}

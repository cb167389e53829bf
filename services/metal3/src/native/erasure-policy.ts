import { formerCleanupAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { CleaningMode } from '../provisioner/step-result.ts';

interface Cleaning {
  readonly cleaning: CleaningMode;
  /** Erasure of Servers without a policy of their own. */
  readonly fleetDisks: string;
}

/**
 * The erasure that the host asks for, as a patch; undefined if the Server has it. Neither a policy that somebody set nor that of the
 * fleet is weakened by the default of hosts. The policy from before is kept in an annotation.
 */
export function policyOf({ metadata, spec }: Server, { cleaning, fleetDisks }: Cleaning): object | undefined {
  const present = spec.cleanup?.disks ?? '';
  const former = metadata.annotations?.[formerCleanupAnnotation] ?? present;
  const byDefault = former === '' && fleetDisks === 'None' ? 'Metadata' : former;
  const disks = cleaning === 'disabled' ? 'None' : byDefault;
  if (disks === present) return undefined;
  return {
    metadata: { annotations: { [formerCleanupAnnotation]: former } },
    spec: { cleanup: { disks: disks === '' ? null : disks } },
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

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { OperatorCaches } from '../../../caches.ts';

/** Undefined while not known: the status keeps the last one. */
export interface VersionFacts {
  readonly biosVersion?: string | undefined;
  readonly bmcVersion?: string | undefined;
}

/** Main versions: of the BIOS as last observed, of the BMC as its object has it. */
export function versionFacts(
  { spec }: Server,
  { state }: Pick<ObservedSystem, 'state'>,
  { bmcs }: Pick<OperatorCaches, 'bmcs'>,
): VersionFacts {
  // Some BMCs report no version while the machine starts.
  const biosVersion = state?.value.biosVersion;
  return {
    biosVersion: biosVersion === '' ? undefined : biosVersion,
    bmcVersion: bmcs.get(spec.bmcRef?.name ?? '')?.status?.firmwareVersion,
  };
}

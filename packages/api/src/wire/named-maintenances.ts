import type { ObjectRef } from '@metal/kube/kinds/kind.ts';

/** Updates of a server name one; those of a BMC several, which BMCSettings nests. */
export interface NamesMaintenances {
  readonly spec: {
    readonly serverMaintenanceRef?: ObjectRef | undefined;
    readonly serverMaintenanceRefs?:
      | readonly (ObjectRef | { readonly serverMaintenanceRef?: ObjectRef | undefined })[]
      | undefined;
  };
}

/** ServerMaintenances that a person provides for the update, instead of the operator's own. */
export function namedMaintenances({ spec }: NamesMaintenances): readonly ObjectRef[] {
  const { serverMaintenanceRef, serverMaintenanceRefs = [] } = spec;
  const refs = serverMaintenanceRefs.map((ref) => ('name' in ref ? ref : ref.serverMaintenanceRef));
  return [serverMaintenanceRef, ...refs].filter((ref) => ref !== undefined);
}

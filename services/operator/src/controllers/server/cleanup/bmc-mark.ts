import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import {
  alternativeUuidAnnotation,
  identityDerivedAnnotation,
  uncleanSystemAnnotation,
} from '@metal/api/wire/contract.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { derivedWithUri, hasUuid } from '@metal/redfish/resources/identity.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';

interface BmcMarks {
  /** Annotations that mean this machine and no other. */
  readonly own: readonly string[];
  /** Also the one under the UUID without the URI, which each system with the serial number could have. */
  readonly all: readonly string[];
}

/**
 * The annotations of the BMC that mark the machine as unclean. A machine without a UUID has two derived ones, and its next
 * Server may be created under the other: the mark is kept, searched and removed under both.
 */
export function bmcMarksOf({ metadata, spec }: Server, { state }: Pick<ObservedSystem, 'state'>): BmcMarks {
  const { annotations = {} } = metadata;
  const seen = state !== undefined && hasUuid(state.value, spec.systemUUID) ? state.value : undefined;
  const own = marksUnder(spec.systemUUID);
  const all = marksUnder(spec.systemUUID, annotations[alternativeUuidAnnotation], seen?.uuid, seen?.alternativeUuid);
  const isOfOneSystem = annotations[identityDerivedAnnotation] === derivedWithUri || isDerivedWithUri(spec, seen);
  return { own: isOfOneSystem ? own : all, all };
}

/** A system that is read alone has the UUID with its URI as the alternative one. */
const isDerivedWithUri = ({ systemUUID }: Server['spec'], seen: SystemState | undefined): boolean =>
  seen?.alternativeUuid === systemUUID.toLowerCase();

const marksUnder = (...uuids: readonly (string | undefined)[]): string[] => [
  ...new Set(uuids.flatMap((uuid) => uncleanSystemAnnotation(uuid ?? '') ?? [])),
];

export function isMarkedAtBmc(server: Server, memory: Pick<ObservedSystem, 'state'>, bmcs: Cache<BMC>): boolean {
  const bmc = server.spec.bmcRef && bmcs.get(server.spec.bmcRef.name);
  return bmcMarksOf(server, memory).own.some((mark) => bmc?.metadata.annotations?.[mark] !== undefined);
}

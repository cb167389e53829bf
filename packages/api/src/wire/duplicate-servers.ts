import { byAge } from '@metal/kube/kinds/kind.ts';
import type { Server } from '../v1alpha1/server.ts';

/** States that only servers with a claim are in, or that end what a claim left. */
const statesAfterClaim: readonly (string | undefined)[] = ['Reserved', 'Released', 'Cleanup'];

/**
 * Of the Servers with one system UUID the only one that the operator and the boot service act on. A claim comes first, then
 * what a claim left on the disks, then age, then the name. Undefined for none.
 */
export function managedServer(servers: readonly Server[]): Server | undefined {
  if (servers.length < 2) return servers[0];
  return servers.toSorted((a, b) => rankOf(b) - rankOf(a) || byAge(a, b))[0];
}

/**
 * The Server that is acted on instead of this one, which has the same system UUID. `sameUuid` may hold this server, also in an
 * older version, which does not count.
 */
export function managedInsteadOf(server: Server, sameUuid: readonly Server[]): Server | undefined {
  const managed = managedServer([server, ...othersThan(server, sameUuid)]);
  return managed === server ? undefined : managed;
}

/** The Servers with the system UUID of this one, by a cache with the index `uuid` of lower-case UUIDs. */
export const sameUuidAs = ({ spec }: Server, servers: UuidIndex): readonly Server[] =>
  servers.by('uuid', spec.systemUUID.toLowerCase());

interface UuidIndex {
  by(index: 'uuid', value: string): readonly Server[];
}

export const othersThan = ({ metadata }: Server, sameUuid: readonly Server[]): Server[] =>
  sameUuid.filter((other) => other.metadata.name !== metadata.name);

/** Whether two versions of a Server compare alike with others of its system UUID. */
export const comparesAlike = (a: Server, b: Server): boolean =>
  a.spec.systemUUID.toLowerCase() === b.spec.systemUUID.toLowerCase() &&
  rankOf(a) === rankOf(b) &&
  a.metadata.creationTimestamp === b.metadata.creationTimestamp;

/** An unclaimed server that may hold data of a claim must not give way to one that would be offered as it is. */
function rankOf({ spec, status }: Server): number {
  if (spec.serverClaimRef !== undefined) return 2;
  const state = status?.state === 'Maintenance' ? status.stateBeforeMaintenance : status?.state;
  return status?.cleanup?.neededSince !== undefined || statesAfterClaim.includes(state) ? 1 : 0;
}

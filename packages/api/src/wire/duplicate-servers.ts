import { byAge } from '@metal/kube/kinds/kind.ts';
import type { Server } from '../v1alpha1/server.ts';

/** States of servers that have a claim, or that need a cleanup after one. */
const statesAfterClaim: readonly (string | undefined)[] = ['Reserved', 'Released', 'Cleanup'];

/**
 * The one of several Servers with the same system UUID that the operator and the boot service act on: the one with a claim,
 * else the one that needs a cleanup, else the oldest, else the first by name. Undefined for an empty list.
 */
export function managedServer(servers: readonly Server[]): Server | undefined {
  if (servers.length < 2) return servers[0];
  return servers.toSorted((a, b) => rankOf(b) - rankOf(a) || byAge(a, b))[0];
}

/**
 * The Server that is managed instead of this one, which has the same system UUID. `sameUuid` may contain an older version of
 * this server; it is ignored.
 */
export function managedInsteadOf(server: Server, sameUuid: readonly Server[]): Server | undefined {
  const managed = managedServer([server, ...othersThan(server, sameUuid)]);
  return managed === server ? undefined : managed;
}

/** The Servers with the system UUID of this one, from a cache with the index `uuid` of lower-case UUIDs. */
export const sameUuidAs = ({ spec }: Server, servers: UuidIndex): readonly Server[] =>
  servers.by('uuid', spec.systemUUID.toLowerCase());

interface UuidIndex {
  by(index: 'uuid', value: string): readonly Server[];
}

export const othersThan = ({ metadata }: Server, sameUuid: readonly Server[]): Server[] =>
  sameUuid.filter((other) => other.metadata.name !== metadata.name);

/** Whether two versions of a Server have the same precedence among Servers of their system UUID. */
export const comparesAlike = (a: Server, b: Server): boolean =>
  a.spec.systemUUID.toLowerCase() === b.spec.systemUUID.toLowerCase() &&
  rankOf(a) === rankOf(b) &&
  a.metadata.creationTimestamp === b.metadata.creationTimestamp;

/** An unclaimed server with data of a former claim takes precedence over one that would become available without cleanup. */
function rankOf({ spec, status }: Server): number {
  if (spec.serverClaimRef !== undefined) return 2;
  const state = status?.state === 'Maintenance' ? status.stateBeforeMaintenance : status?.state;
  return status?.cleanup?.neededSince !== undefined || statesAfterClaim.includes(state) ? 1 : 0;
}

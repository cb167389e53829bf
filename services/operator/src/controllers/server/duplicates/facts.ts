import type { Server } from '@metal/api/v1alpha1/server.ts';
import { managedInsteadOf, othersThan, sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';

/** Other Servers have the system UUID of this one: there is only one machine. */
export interface DuplicateFacts {
  /** Another Server of the machine is managed instead of this one. */
  readonly isIgnored: boolean;
  /** Names the other Servers and the remedy. */
  readonly message: string;
  /** Identifies the set of Servers and the managed one. Another key is reported again. */
  readonly key: string;
  /** An event reported this key. */
  readonly isReported: boolean;
}

const mostNames = 3;

export function duplicateFacts(
  server: Server,
  { reportedDuplicates }: ObservedSystem,
  servers: Cache<Server>,
): DuplicateFacts | undefined {
  const sameUuid = sameUuidAs(server, servers);
  const others = othersThan(server, sameUuid);
  if (others.length === 0) return undefined;
  const managed = managedInsteadOf(server, sameUuid);
  const key = [managed ?? server, ...others].map(({ metadata }) => metadata.uid).join(' ');
  return {
    isIgnored: managed !== undefined,
    message: messageOf(others, managed),
    key,
    isReported: reportedDuplicates === key,
  };
}

function messageOf(others: readonly Server[], managed: Server | undefined): string {
  if (managed !== undefined)
    return `Server ${managed.metadata.name} has this system UUID too and is managed${reasonFor(managed)}; delete one of the two`;
  const names = others.map(({ metadata }) => metadata.name).toSorted();
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  return `Server ${names.slice(0, mostNames).join(', ')}${more} has this system UUID too; this one is managed; delete the surplus`;
}

const reasonFor = ({ spec }: Server): string => (spec.serverClaimRef === undefined ? '' : ', as it has a claim');

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { OperatorCaches } from '../caches.ts';
import { isHeldBy } from './eligibility.ts';

type Servers = Pick<OperatorCaches['servers'], 'by'>;

/**
 * The claim needs a server. A claim that has its server does not, even if its status does not report that yet. A paused claim
 * would not be bound and would block the server that is assumed for it.
 */
export function isPending(claim: ServerClaim, servers: Servers): boolean {
  const { status } = claim;
  if (isPausedOrDeleting(claim) || status?.phase === 'Bound' || status?.phase === 'Lost') return false;
  return holdersOf(claim, servers).length === 0;
}

/** The claim has a server, assumed or bound, and the operator still has work to do for it. */
export function isInFlight(claim: ServerClaim | undefined, isAssumed: boolean, servers: Servers): boolean {
  if (claim === undefined || isPausedOrDeleting(claim) || claim.status?.phase === 'Lost') return false;
  if (isAssumed) return true;
  const holders = holdersOf(claim, servers);
  return holders.length > 0 && !holders.some(releasesSlot);
}

/** Key of the claim that the server refers to. */
export function claimKeyOf(server: Server | undefined): string | undefined {
  const ref = server?.spec.serverClaimRef;
  return ref && keyOf(ref);
}

const isPausedOrDeleting = (claim: ServerClaim): boolean =>
  isPaused(claim) || claim.metadata.deletionTimestamp !== undefined;

const holdersOf = (claim: ServerClaim, servers: Servers): Server[] =>
  servers.by('claim', keyOf(claim)).filter((server) => isHeldBy(server, claim));

/**
 * The rest is up to the machine, which may boot for minutes, or the server is what the claim asks for. Ready counts only in
 * state Reserved: a free server is Ready as well.
 */
const releasesSlot = ({ status }: Server): boolean =>
  status?.state === 'Reserved' &&
  (status.powerState === 'On' ||
    status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true);

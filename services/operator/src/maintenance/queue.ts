import { isAdoptionRequested } from '@metal/api/wire/adoption.ts';
import { managedInsteadOf, sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import { maintenanceApprovedLabel, parkedAnnotation } from '@metal/api/wire/contract.ts';
import { isLeavingFleet } from '@metal/api/wire/decommission.ts';
import { isInWindow } from '@metal/api/wire/maintenance-window.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { OperatorCaches } from '../caches.ts';
import { isHeldBy } from '../scheduling/eligibility.ts';

export type QueueCaches = Pick<OperatorCaches, 'servers' | 'claims' | 'maintenances'>;

/** Why a maintenance may not have its server now, whatever the others do. */
export interface Hold {
  readonly reason:
    | 'ServerNotFound'
    | 'UnknownPolicy'
    | 'ServerBeingDeleted'
    | 'ServerIgnored'
    | 'ServerParked'
    | 'ServerNotManaged'
    | 'ReleaseFirst'
    | 'CleanupFirst'
    | 'AdoptionFirst'
    | 'ServerLeaving'
    | 'KeptForReview'
    | 'ClaimNotFound'
    | 'WaitingForApproval';
  readonly message: string;
}

/** An empty policy is OwnerApproval. Undefined for a text that is no policy. */
export function policyOf({ spec }: ServerMaintenance): 'OwnerApproval' | 'Enforced' | undefined {
  const { policy = '' } = spec;
  if (policy === '' || policy === 'OwnerApproval') return 'OwnerApproval';
  return policy === 'Enforced' ? 'Enforced' : undefined;
}

/** The power state of the spec of the maintenance. A boot configuration needs a start. */
export function wantedPowerOf({ spec }: ServerMaintenance): 'On' | 'Off' | undefined {
  const { serverPower } = spec;
  if (serverPower === 'On' || serverPower === 'Off') return serverPower;
  return spec.serverBootConfigurationTemplate === undefined ? undefined : 'On';
}

export const refersTo = ({ spec }: Server, { metadata }: ServerMaintenance): boolean =>
  spec.serverMaintenanceRef?.name === metadata.name && spec.serverMaintenanceRef.namespace === metadata.namespace;

/** It is to have its server: not deleted, ignored or failed. */
export const isAsking = (maintenance: ServerMaintenance): boolean =>
  maintenance.metadata.deletionTimestamp === undefined &&
  !isPaused(maintenance) &&
  maintenance.status?.state !== 'Failed';

/**
 * The maintenances that may have the server now, in the order in which they get it. Both controllers decide by this: one gives the
 * server to the first, the other keeps the server in Maintenance while there is one.
 */
export function runnableOf(server: Server, caches: QueueCaches): ServerMaintenance[] {
  return caches.maintenances
    .by('server', server.metadata.name)
    .filter((one) => isAsking(one) && holdOf(one, server, caches) === undefined)
    .toSorted(byPrecedence);
}

/** Higher priority, then Enforced, then age, namespace and name. */
export function byPrecedence(a: ServerMaintenance, b: ServerMaintenance): number {
  return (
    (b.spec.priority ?? 0) - (a.spec.priority ?? 0) ||
    Number(policyOf(b) === 'Enforced') - Number(policyOf(a) === 'Enforced') ||
    compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
    compare(a.metadata.namespace, b.metadata.namespace) ||
    compare(a.metadata.name, b.metadata.name)
  );
}

const compare = (one = '', other = ''): number => (one === other ? 0 : one < other ? -1 : 1);

export function holdOf(
  maintenance: ServerMaintenance,
  server: Server | undefined,
  caches: QueueCaches,
): Hold | undefined {
  const { name } = maintenance.spec.serverRef;
  if (server === undefined) return { reason: 'ServerNotFound', message: `Server ${name} does not exist` };
  const policy = policyOf(maintenance);
  if (policy === undefined)
    return {
      reason: 'UnknownPolicy',
      message: `spec.policy "${maintenance.spec.policy?.slice(0, 40) ?? ''}" is not known: expected OwnerApproval or Enforced`,
    };
  return (
    unmanagedReason(server, caches) ??
    othersFirst(server, caches) ??
    leavingHold(policy, server) ??
    approvalHold(policy, server, caches)
  );
}

const manageableStates: readonly string[] = [
  'Initial',
  'Discovery',
  'Available',
  'Reserved',
  'Released',
  'Cleanup',
  'Maintenance',
  'Error',
];

function unmanagedReason(server: Server, { servers }: QueueCaches): Hold | undefined {
  const { metadata, status } = server;
  const { name } = metadata;
  const state = status?.state ?? '';
  if (metadata.deletionTimestamp !== undefined)
    return { reason: 'ServerBeingDeleted', message: `Server ${name} is being deleted` };
  if (isPaused(server))
    return { reason: 'ServerIgnored', message: `Server ${name} is ignored by annotation; remove the annotation` };
  if (metadata.annotations?.[parkedAnnotation] !== undefined)
    return { reason: 'ServerParked', message: `Server ${name} is parked; annotate it with operation=unpark` };
  const managed = managedInsteadOf(server, sameUuidAs(server, servers));
  if (managed !== undefined)
    return {
      reason: 'ServerNotManaged',
      message: `Server ${managed.metadata.name} is managed instead of Server ${name}; both have one system UUID`,
    };
  if (state === '' || manageableStates.includes(state)) return undefined;
  return { reason: 'ServerNotManaged', message: `a Server in state ${state} has no maintenance` };
}

/** A step in progress ends first, and a machine in use gets its claim, whose owner approves first, unless the server is in a window already. */
function othersFirst(server: Server, { claims }: QueueCaches): Hold | undefined {
  if (isInWindow(server)) return undefined;
  const { name } = server.metadata;
  if (isAdoptionRequested(server))
    return { reason: 'AdoptionFirst', message: `Server ${name} is to be adopted; its claim has to approve after that` };
  const ref = server.spec.serverClaimRef;
  const claim = ref === undefined ? undefined : claims.get(ref);
  if (claim?.metadata.deletionTimestamp !== undefined && isHeldBy(server, claim))
    return {
      reason: 'ReleaseFirst',
      message: `Server ${name} is being released by ServerClaim ${keyOf(claim)}; the maintenance begins after that`,
    };
  if (server.status?.state === 'Cleanup' && (server.status.cleanup?.attempt ?? 0) > 0)
    return { reason: 'CleanupFirst', message: `Server ${name} is being cleaned up; the maintenance begins after that` };
  return undefined;
}

/** A maintenance that has the server already goes on; another one begins only by force. */
function leavingHold(policy: 'OwnerApproval' | 'Enforced', server: Server): Hold | undefined {
  if (policy === 'Enforced' || !isLeavingFleet(server)) return undefined;
  return {
    reason: 'ServerLeaving',
    message: `Server ${server.metadata.name} is being decommissioned; use policy Enforced, or recommission it`,
  };
}

/** A server without a claim needs no approval. */
function approvalHold(policy: 'OwnerApproval' | 'Enforced', server: Server, { claims }: QueueCaches): Hold | undefined {
  const ref = server.spec.serverClaimRef;
  if (ref === undefined || policy === 'Enforced') return undefined;
  if (ref.evicted === true || server.status?.state === 'Released')
    return {
      reason: 'KeptForReview',
      message: `Server ${server.metadata.name} is kept for review and nobody can approve; clear its spec.serverClaimRef, or use policy Enforced`,
    };
  const claim = claims.get(ref);
  if (claim === undefined || !isHeldBy(server, claim))
    return {
      reason: 'ClaimNotFound',
      message: `ServerClaim ${ref.namespace}/${ref.name} of Server ${server.metadata.name} does not exist`,
    };
  return isApproved(claim)
    ? undefined
    : { reason: 'WaitingForApproval', message: `the owner of the claim approves by: ${approvalCommand(claim)}` };
}

/** Any value approves. */
export const isApproved = ({ metadata }: ServerClaim): boolean =>
  metadata.labels?.[maintenanceApprovedLabel] !== undefined;

export const approvalCommand = ({ metadata: { namespace, name } }: ServerClaim): string =>
  `kubectl label serverclaim -n ${namespace ?? ''} ${name} ${maintenanceApprovedLabel}=true`;

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { hasNothingToBoot, isAdoptedBy } from '@metal/api/wire/adoption.ts';
import { bootPolicyAnnotation, operationAnnotation, reprovisionAnnotation } from '@metal/api/wire/contract.ts';
import { type Decommission, decommissionOf } from '@metal/api/wire/decommission.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { isUnstarted } from './boot-trace.ts';
import { type MaintenanceNotice, maintenanceNoticeOf } from './maintenance.ts';
import { type Serving, servingOf } from './serving.ts';
import { isHeldBy } from '../../scheduling/eligibility.ts';
import type { UnreadyReason } from '../../scheduling/unschedulable-reasons.ts';
import type { OperatorCaches } from '../../caches.ts';
import type { OperatorContext } from '../context.ts';

export type ClaimPhase = 'Unbound' | 'Bound' | 'Lost';
export type ClaimAction =
  | 'bind'
  | 'recordServer'
  | 'createBootConfiguration'
  | 'correctBootConfiguration'
  | 'deleteBootConfiguration'
  | 'markBootPolicy'
  | 'acceptReprovision'
  | 'consumeOperation'
  | 'shareMatchLevel';

export interface ClaimFacts {
  /** The server that carries this claim's UID. */
  readonly boundServer: Server | undefined;
  /** Name of the server that was evicted from the claim and is kept for review. */
  readonly evictedFrom: string | undefined;
  /** The server that was chosen for the claim and is not bound yet. */
  readonly assumedServer: Server | undefined;
  /** A server is free for the claim, and older claims come first. */
  readonly isQueued: boolean;
  /** `spec.serverRef` names the held server. */
  readonly recorded: boolean;
  /**
   * outdated: image or ignition differ, and no reprovisioning was requested. correctable: they differ, and nothing can have
   * booted yet. superseded: reprovisioning was requested. unmarked: the boot policy differs from that of the claim. none: the
   * machine was adopted as it was. unrequested: it was, and the claim got an image since.
   */
  readonly boot:
    | 'absent'
    | 'present'
    | 'foreign'
    | 'outdated'
    | 'correctable'
    | 'superseded'
    | 'unmarked'
    | 'none'
    | 'unrequested';
  readonly operation: 'none' | 'retry' | 'reprovision';
  /** The bound server is to leave the fleet. */
  readonly decommission: Decommission | undefined;
  /** RFC 3339 time at which a taint or a forced decommission evicts the claim. */
  readonly evictedAt: string | undefined;
  /** A maintenance has the bound server, or asks for it. */
  readonly maintenance: MaintenanceNotice | undefined;
  /** Of the bound server; undefined without one. */
  readonly serving: Serving | undefined;
  /** Why no server was chosen; computed only while none matches. */
  readonly explanation: string;
  /** The server that the claim names is only not ready. */
  readonly unready: UnreadyReason | undefined;
  /** The best matching server got closer or further away, and similar claims do not report that yet. */
  readonly hasNewMatchLevel: boolean;
  /** Until the explanation is computed again. */
  readonly explainedForMs: number;
}

export function readClaimFacts(claim: ServerClaim, context: OperatorContext): ClaimFacts {
  const { caches, scheduler, config } = context;
  const boundServer = findBoundServer(claim, caches);
  const assumedServer = boundServer === undefined ? scheduler.assumedBindingOf(claim) : undefined;
  const isUnbound = boundServer === undefined && assumedServer === undefined;
  const isQueued = isUnbound && scheduler.isQueued(claim);
  const isUnmatched = isUnbound && !isQueued;
  const since = boundServer?.status?.evictionSince;
  return {
    boundServer,
    evictedFrom: caches.servers
      .by('claim', keyOf(claim))
      .find(({ spec: { serverClaimRef: ref } }) => ref?.evicted === true && ref.uid === claim.metadata.uid)?.metadata
      .name,
    assumedServer,
    isQueued,
    recorded: boundServer !== undefined && claim.spec.serverRef?.name === boundServer.metadata.name,
    boot: bootStateOf(claim, boundServer, caches),
    operation: operationOf(claim),
    decommission: boundServer && decommissionOf(boundServer),
    evictedAt: since === undefined ? undefined : new Date(Date.parse(since) + config.evictionGraceMs).toISOString(),
    maintenance: boundServer && maintenanceNoticeOf(claim, boundServer, caches),
    serving: boundServer && servingIn(claim, boundServer, caches),
    explanation: isUnmatched ? scheduler.explain(claim) : '',
    unready: isUnmatched ? scheduler.unreadyReasonOf(claim) : undefined,
    hasNewMatchLevel: isUnmatched && scheduler.hasNewMatchLevel(claim),
    explainedForMs: scheduler.explainIntervalMs(claim),
  };
}

function servingIn(claim: ServerClaim, server: Server, { bmcs, bootConfigurations }: OperatorCaches): Serving {
  const boot = bootConfigurations.get({ namespace: claim.metadata.namespace, name: claim.metadata.name });
  const isOurs = boot?.metadata.ownerReferences?.some(({ uid }) => uid === claim.metadata.uid) === true;
  return servingOf({
    claim,
    server,
    boot: isOurs && boot.metadata.deletionTimestamp === undefined ? boot : undefined,
    bmc: bmcs.get(server.spec.bmcRef?.name ?? ''),
  });
}

function operationOf({ metadata }: ServerClaim): ClaimFacts['operation'] {
  const value = metadata.annotations?.[operationAnnotation];
  return value === 'retry' || value === 'reprovision' ? value : 'none';
}

/**
 * More than one server may carry the UID, if a leader was cut off or the response to its write was lost. The server that the claim
 * names is its server; before the claim names one, the first by name, so that every reconcile finds the same. The Server
 * controller releases the others.
 */
export function findBoundServer(claim: ServerClaim, { servers }: Pick<OperatorCaches, 'servers'>): Server | undefined {
  const holders = servers.by('claim', keyOf(claim)).filter((server) => isHeldBy(server, claim));
  const named = holders.find((server) => server.metadata.name === claim.spec.serverRef?.name);
  return named ?? holders.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name, 'en'))[0];
}

function bootStateOf(
  claim: ServerClaim,
  server: Server | undefined,
  { bootConfigurations }: OperatorContext['caches'],
): ClaimFacts['boot'] {
  const { metadata, spec } = claim;
  const boot = bootConfigurations.get({ namespace: metadata.namespace, name: metadata.name });
  if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return withoutBoot(claim, server);
  if (!boot.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid)) return 'foreign';
  const requested = metadata.annotations?.[reprovisionAnnotation];
  // Only a later request counts: a mark that was removed or restored by hand must not boot a machine again.
  if (requested !== undefined && requested > (boot.metadata.annotations?.[reprovisionAnnotation] ?? ''))
    return 'superseded';
  if ((boot.metadata.annotations?.[bootPolicyAnnotation] ?? 'networkOnce') !== (spec.bootPolicy ?? 'networkOnce'))
    return 'unmarked';
  if (isCurrent(boot, spec)) return 'present';
  return server !== undefined && isUnstarted(claim, server, boot) ? 'correctable' : 'outdated';
}

/** On a machine that was adopted as it was, an image is booted only on request. */
function withoutBoot({ metadata, spec }: ServerClaim, server: Server | undefined): 'absent' | 'none' | 'unrequested' {
  const isRequested = metadata.annotations?.[reprovisionAnnotation] !== undefined;
  if (server === undefined || isRequested || !isAdoptedBy(server, { metadata })) return 'absent';
  return hasNothingToBoot(spec) ? 'none' : 'unrequested';
}

function isCurrent({ spec }: ServerBootConfiguration, desired: ServerClaim['spec']): boolean {
  return (
    (spec.image ?? '') === desired.image &&
    isSameJson(spec.diskImage, desired.diskImage) &&
    spec.ignitionSecretRef?.name === desired.ignitionSecretRef?.name
  );
}

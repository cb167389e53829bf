import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { bootPolicyAnnotation, operationAnnotation, reprovisionAnnotation } from '@metal/api/wire/contract.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { isHeldBy } from '../../scheduling/eligibility.ts';
import type { OperatorCaches } from '../../caches.ts';
import type { OperatorContext } from '../context.ts';

export type ClaimPhase = 'Unbound' | 'Bound' | 'Lost';
export type ClaimAction =
  | 'bind'
  | 'recordServer'
  | 'createBootConfiguration'
  | 'deleteBootConfiguration'
  | 'markBootPolicy'
  | 'acceptReprovision'
  | 'consumeOperation';

export interface ClaimFacts {
  /** The server that carries this claim's UID. */
  readonly boundServer: Server | undefined;
  /** Name of the server that was taken from it and is kept for review. */
  readonly evictedFrom: string | undefined;
  /** The server chosen for it, not yet bound. */
  readonly assumedServer: Server | undefined;
  /** A server is free for it, and older claims are served first. */
  readonly isQueued: boolean;
  /** `spec.serverRef` names the held server. */
  readonly recorded: boolean;
  /**
   * outdated: image or ignition differ, and nobody has asked for the change yet. superseded: somebody has. unmarked: it
   * does not say the boot policy of the claim.
   */
  readonly boot: 'absent' | 'present' | 'foreign' | 'outdated' | 'superseded' | 'unmarked';
  readonly operation: 'none' | 'retry' | 'reprovision';
  /** RFC 3339 time at which a taint takes the server away. */
  readonly evictedAt: string | undefined;
  /** What the held server says of itself. */
  readonly serverMessage: string;
  /** Why no server was chosen; computed only while there is none, and none to come. */
  readonly explanation: string;
  /** For so long that is explained well enough. */
  readonly explainedForMs: number;
}

export function readClaimFacts(claim: ServerClaim, context: OperatorContext): ClaimFacts {
  const { caches, scheduler, config } = context;
  const boundServer = findBoundServer(claim, caches);
  const assumedServer = boundServer === undefined ? scheduler.assumedBindingOf(claim) : undefined;
  const isUnbound = boundServer === undefined && assumedServer === undefined;
  const isQueued = isUnbound && scheduler.isQueued(claim);
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
    boot: bootStateOf(claim, caches),
    operation: operationOf(claim),
    evictedAt: since === undefined ? undefined : new Date(Date.parse(since) + config.evictionGraceMs).toISOString(),
    serverMessage: boundServer?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    explanation: isUnbound && !isQueued ? scheduler.explain(claim) : '',
    explainedForMs: scheduler.explainIntervalMs(claim),
  };
}

function operationOf({ metadata }: ServerClaim): ClaimFacts['operation'] {
  const value = metadata.annotations?.[operationAnnotation];
  return value === 'retry' || value === 'reprovision' ? value : 'none';
}

/**
 * More than one server may carry the UID: one was bound by a leader that was cut off, or the answer of the write was
 * lost. The one that the claim names is its server, and before it names one, the first by name, so that every look
 * finds the same; the others let go by themselves.
 */
export function findBoundServer(claim: ServerClaim, { servers }: Pick<OperatorCaches, 'servers'>): Server | undefined {
  const holders = servers.by('claim', keyOf(claim)).filter((server) => isHeldBy(server, claim));
  const named = holders.find((server) => server.metadata.name === claim.spec.serverRef?.name);
  return named ?? holders.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name, 'en'))[0];
}

function bootStateOf(
  { metadata, spec }: ServerClaim,
  { bootConfigurations }: OperatorContext['caches'],
): ClaimFacts['boot'] {
  const boot = bootConfigurations.get({ namespace: metadata.namespace, name: metadata.name });
  if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return 'absent';
  if (!boot.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid)) return 'foreign';
  const requested = metadata.annotations?.[reprovisionAnnotation];
  // Only a later request counts: a mark that somebody removed or restored must not boot a machine anew.
  if (requested !== undefined && requested > (boot.metadata.annotations?.[reprovisionAnnotation] ?? ''))
    return 'superseded';
  if ((boot.metadata.annotations?.[bootPolicyAnnotation] ?? 'networkOnce') !== (spec.bootPolicy ?? 'networkOnce'))
    return 'unmarked';
  return isCurrent(boot, spec) ? 'present' : 'outdated';
}

function isCurrent({ spec }: ServerBootConfiguration, desired: ServerClaim['spec']): boolean {
  return spec.image === desired.image && spec.ignitionSecretRef?.name === desired.ignitionSecretRef?.name;
}

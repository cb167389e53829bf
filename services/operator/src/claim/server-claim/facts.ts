import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { bootPolicyAnnotation, operationAnnotation, reprovisionAnnotation } from '@metal/api/wire/contract.ts';
import { keyOf } from '@metal/kube/kind.ts';
import { isHeldBy } from '../../claimability.ts';
import type { OperatorCaches, OperatorContext } from '../../context.ts';

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
  readonly held: Server | undefined;
  /** Name of the server that was taken from it and is kept for review. */
  readonly evictedFrom: string | undefined;
  /** The server chosen for it, not yet bound. */
  readonly promised: Server | undefined;
  /** A server is free for it, and older claims are served first. */
  readonly inLine: boolean;
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
  readonly serverSays: string;
  /** Why no server was chosen; computed only while there is none, and none to come. */
  readonly explanation: string;
  /** For so long that is explained well enough. */
  readonly explainedForMs: number;
}

export function readClaimFacts(claim: ServerClaim, context: OperatorContext): ClaimFacts {
  const { caches, scheduler, config } = context;
  const held = heldServer(claim, caches);
  const promised = held === undefined ? scheduler.promiseOf(claim) : undefined;
  const isWithout = held === undefined && promised === undefined;
  const inLine = isWithout && scheduler.isInLine(claim);
  const since = held?.status?.evictionSince;
  return {
    held,
    evictedFrom: caches.servers
      .by('claim', keyOf(claim))
      .find(({ spec: { serverClaimRef: ref } }) => ref?.evicted === true && ref.uid === claim.metadata.uid)?.metadata
      .name,
    promised,
    inLine,
    recorded: held !== undefined && claim.spec.serverRef?.name === held.metadata.name,
    boot: bootStanding(claim, caches),
    operation: operationOf(claim),
    evictedAt: since === undefined ? undefined : new Date(Date.parse(since) + config.evictionGraceMs).toISOString(),
    serverSays: held?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    explanation: isWithout && !inLine ? scheduler.explain(claim) : '',
    explainedForMs: scheduler.explainedForMs(claim),
  };
}

function operationOf({ metadata }: ServerClaim): ClaimFacts['operation'] {
  const word = metadata.annotations?.[operationAnnotation];
  return word === 'retry' || word === 'reprovision' ? word : 'none';
}

/**
 * More than one server may carry the UID: one was bound by a leader that was cut off, or the answer of the write was
 * lost. The one that the claim names is its server, and before it names one, the first by name, so that every look
 * finds the same; the others let go by themselves.
 */
export function heldServer(claim: ServerClaim, { servers }: Pick<OperatorCaches, 'servers'>): Server | undefined {
  const holders = servers.by('claim', keyOf(claim)).filter((server) => isHeldBy(server, claim));
  const named = holders.find((server) => server.metadata.name === claim.spec.serverRef?.name);
  return named ?? holders.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name, 'en'))[0];
}

function bootStanding(
  { metadata, spec }: ServerClaim,
  { bootConfigurations }: OperatorContext['caches'],
): ClaimFacts['boot'] {
  const boot = bootConfigurations.get({ namespace: metadata.namespace, name: metadata.name });
  if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return 'absent';
  if (!boot.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid)) return 'foreign';
  const asked = metadata.annotations?.[reprovisionAnnotation];
  // Only a later request counts: a mark that somebody removed or restored must not boot a machine anew.
  if (asked !== undefined && asked > (boot.metadata.annotations?.[reprovisionAnnotation] ?? '')) return 'superseded';
  if ((boot.metadata.annotations?.[bootPolicyAnnotation] ?? 'networkOnce') !== (spec.bootPolicy ?? 'networkOnce'))
    return 'unmarked';
  return isCurrent(boot, spec) ? 'present' : 'outdated';
}

function isCurrent({ spec }: ServerBootConfiguration, wish: ServerClaim['spec']): boolean {
  return spec.image === wish.image && spec.ignitionSecretRef?.name === wish.ignitionSecretRef?.name;
}

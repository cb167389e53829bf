import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { OperatorContext } from '../../context.ts';

export type ClaimPhase = 'Unbound' | 'Bound';
export type ClaimAction = 'bind' | 'recordServer' | 'createBootConfiguration' | 'deleteBootConfiguration';

export interface ClaimFacts {
  /** The server that carries this claim's UID. */
  readonly held: Server | undefined;
  /** The server chosen for it, not yet bound. */
  readonly promised: Server | undefined;
  /** `spec.serverRef` names the held server. */
  readonly recorded: boolean;
  readonly boot: 'absent' | 'present' | 'foreign' | 'outdated';
  /** Why no server was chosen; computed only while there is none. */
  readonly explanation: string;
}

export function readClaimFacts(claim: ServerClaim, { caches, scheduler }: OperatorContext): ClaimFacts {
  const held = heldServer(claim, caches);
  const promised = held === undefined ? scheduler.promiseOf(claim) : undefined;
  return {
    held,
    promised,
    recorded: held !== undefined && claim.spec.serverRef?.name === held.metadata.name,
    boot: bootStanding(claim, caches),
    explanation: held === undefined && promised === undefined ? scheduler.explain(claim) : '',
  };
}

function heldServer({ metadata }: ServerClaim, { servers }: OperatorContext['caches']): Server | undefined {
  const holders = servers.by('claim', `${metadata.namespace ?? ''}/${metadata.name}`);
  // A reference without UID was written by v0.7.0, which knew claims by name only.
  return holders.find(({ spec }) => (spec.serverClaimRef?.uid ?? metadata.uid) === metadata.uid);
}

function bootStanding(
  { metadata, spec }: ServerClaim,
  { bootConfigurations }: OperatorContext['caches'],
): ClaimFacts['boot'] {
  const boot = bootConfigurations.get({ namespace: metadata.namespace, name: metadata.name });
  if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return 'absent';
  if (!boot.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid)) return 'foreign';
  return isCurrent(boot, spec) ? 'present' : 'outdated';
}

function isCurrent({ spec }: ServerBootConfiguration, wish: ServerClaim['spec']): boolean {
  return spec.image === wish.image && spec.ignitionSecretRef?.name === wish.ignitionSecretRef?.name;
}

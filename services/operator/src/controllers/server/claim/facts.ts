import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { reprovisionAnnotation } from '@metal/api/wire/contract.ts';
import type { OperatorCaches } from '../../../caches.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { type BootFacts, bootFactsOf, awaitsStart } from '../boot/configuration-facts.ts';

export type BootPolicy = 'networkOnce' | 'networkAlways' | 'safeStop';

/**
 * `missing` is what the cache says; only `gone` has been confirmed by the API itself. A claim that was evicted is gone for
 * the server, too, and nothing gives the server back to it but a new binding.
 */
export type ClaimFacts =
  | { readonly binding: 'unbound' }
  | { readonly binding: 'lost' | 'deleting'; readonly uid: string; readonly name: string }
  /** restored: a claim of that name and another UID names this server, as after a restore from a backup. */
  | { readonly binding: 'notInCache'; readonly uid: string; readonly name: string; readonly restored: boolean }
  | BoundClaim;

export interface BoundClaim {
  readonly binding: 'bound';
  readonly uid: string;
  readonly name: string;
  readonly wantsPower: 'On' | 'Off';
  readonly bootPolicy: BootPolicy;
  readonly boot: BootFacts | undefined;
  /** This boot configuration has booted once: what follows depends on the boot policy. */
  readonly provisioned: boolean;
  /** The claim asks for its image anew, and the machine has not been powered off for that yet. */
  readonly reprovision: boolean;
  /** Boot policy safeStop: it lost power and waits for a person. */
  readonly stopped: boolean;
  /** The reference of the server names the claim by UID too; v0.7.0 wrote none. */
  readonly uidRecorded: boolean;
  /** This process adopted the boot configuration and has not started the machine for it yet. */
  readonly firstBootPending: boolean;
  /** `spec.power` of the server says what the claim wants. */
  readonly powerRecorded: boolean;
}

type ClaimCaches = Pick<OperatorCaches, 'claims' | 'bootConfigurations'>;

export function claimFacts(server: Server, memory: ObservedSystem, caches: ClaimCaches, now: number): ClaimFacts {
  const ref = server.spec.serverClaimRef;
  if (ref === undefined) return { binding: 'unbound' };
  const claim = caches.claims.get({ namespace: ref.namespace, name: ref.name });
  const uid = ref.uid ?? claim?.metadata.uid ?? '';
  const name = `${ref.namespace}/${ref.name}`;
  if (ref.evicted === true) return { binding: 'lost', uid, name };
  if (claim === undefined || claim.metadata.uid !== uid) {
    const restored = claim !== undefined && claim.spec.serverRef?.name === server.metadata.name;
    const confirmed = memory.confirmedLostClaim === `${name}/${uid}`;
    return confirmed ? { binding: 'lost', uid, name } : { binding: 'notInCache', uid, name, restored };
  }
  if (claim.metadata.deletionTimestamp !== undefined) return { binding: 'deleting', uid, name };
  if (isBoundElsewhere(server, claim, memory, caches)) return { binding: 'lost', uid, name };
  return { binding: 'bound', uid, name, ...boundClaimFacts(server, claim, memory, caches, now) };
}

/**
 * A claim may come to be written on two servers: by a leader that was frozen in between, or because the answer of a write
 * was lost. Which one it has, `spec.serverRef` says for good. The other is let go if it was never made ready for the
 * claim and is off; whatever runs or may have booted for it is left alone, for a person to judge.
 */
function isBoundElsewhere(
  { metadata, spec, status }: Server,
  claim: ServerClaim,
  memory: ObservedSystem,
  { bootConfigurations }: ClaimCaches,
): boolean {
  const named = claim.spec.serverRef?.name;
  // A reference without UID is of v0.7.0, which kept no record of what has booted.
  if (named === undefined || named === metadata.name || spec.serverClaimRef?.uid === undefined) return false;
  const isServed = ({ serverRef }: ServerBootConfiguration['spec']) => serverRef.name === metadata.name;
  const boots = bootConfigurations.by('owner', claim.metadata.uid ?? '');
  const { namespace, name } = spec.bootConfigurationRef ?? {};
  const wasPrepared =
    status?.provisionedClaimUID !== undefined ||
    boots.some((boot) => isServed(boot.spec)) ||
    (name === claim.metadata.name && namespace === claim.metadata.namespace);
  return !wasPrepared && (memory.state?.value.powerState ?? status?.powerState) === 'Off';
}

function boundClaimFacts(
  server: Server,
  claim: ServerClaim,
  memory: ObservedSystem,
  caches: ClaimCaches,
  now: number,
): Omit<BoundClaim, 'binding' | 'uid' | 'name'> {
  const boot = caches.bootConfigurations
    .by('owner', claim.metadata.uid ?? '')
    .find(
      ({ spec, metadata }) => spec.serverRef.name === server.metadata.name && metadata.deletionTimestamp === undefined,
    );
  if (boot !== undefined && isAboutToReprovision(boot, server, memory))
    memory.recordPreparedBoot(boot.metadata.uid ?? '');
  const bootFacts = boot && bootFactsOf(boot, server, now, { awaitsStart: awaitsStart(boot, server, memory) });
  const wantsPower = claim.spec.power === 'On' ? 'On' : 'Off';
  const bootPolicy = claim.spec.bootPolicy ?? 'networkOnce';
  const record = provisioningRecord(server, claim, bootFacts);
  return {
    wantsPower,
    bootPolicy,
    boot: bootFacts,
    ...record,
    stopped: wantsPower === 'On' && isStopped(server, claim, bootPolicy, memory, record.provisioned, now),
    powerRecorded: server.spec.power === wantsPower,
    uidRecorded: server.spec.serverClaimRef?.uid !== undefined,
    firstBootPending: boot !== undefined && memory.firstBoot?.uid === boot.metadata.uid && !memory.firstBoot?.requested,
  };
}

/** It was powered off to boot a changed image, and what ran before did not boot that. */
const isAboutToReprovision = (
  { metadata }: ServerBootConfiguration,
  { status }: Server,
  { state }: ObservedSystem,
): boolean =>
  (metadata.annotations?.[reprovisionAnnotation] ?? '') > (status?.servedReprovision ?? '') &&
  state?.value.powerState === 'Off';

/** A boot configuration that was merely deleted and made again is no request: its machine runs on. */
function provisioningRecord({ status }: Server, { metadata }: ServerClaim, boot: BootFacts | undefined) {
  const reprovision = boot !== undefined && boot.request > (status?.servedReprovision ?? '');
  const hasBooted = status?.provisionedClaimUID === metadata.uid || (boot?.bootSeen ?? false);
  return { provisioned: !reprovision && hasBooted, reprovision };
}

/**
 * A machine under safeStop that was on and is off although nobody asked for it. `spec.power` says On only after the
 * machine was seen on, so a power-on that is just being asked for is not mistaken for a loss.
 */
function isStopped(
  { status, spec }: Server,
  { metadata }: ServerClaim,
  policy: BootPolicy,
  memory: ObservedSystem,
  provisioned: boolean,
  now: number,
): boolean {
  if (policy !== 'safeStop') return false;
  if (status?.stoppedClaimUID === metadata.uid) return true;
  return provisioned && spec.power === 'On' && memory.isStableAt('Off', now);
}

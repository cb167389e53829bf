import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { hasNothingToBoot, isAdoptedBy } from '@metal/api/wire/adoption.ts';
import { reprovisionAnnotation } from '@metal/api/wire/contract.ts';
import { isReprovisionPending } from '@metal/api/wire/reprovision.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { OperatorCaches } from '../../../caches.ts';
import { awaitsStart, type BootFacts, bootFactsOf } from '../boot/configuration-facts.ts';

export type BootPolicy = 'networkOnce' | 'networkAlways' | 'safeStop';

/**
 * How `spec.serverClaimRef` and the claim fit together. notInCache is what the cache holds; lost is confirmed by the API
 * server, or the claim was evicted, or it is bound to another server. Only a new binding gives a lost server to a claim again.
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
  /** This boot configuration has booted once; from now on the boot policy decides. */
  readonly provisioned: boolean;
  /** The claim has neither an image nor a disk image. */
  readonly hasNothingToBoot: boolean;
  /** The machine was taken over as it was, and nothing was booted for the claim since. */
  readonly adopted: boolean;
  /** The claim requests its image again, and the machine has not been powered off for that yet. */
  readonly reprovision: boolean;
  /** Boot policy safeStop: the machine lost power and stays off until a person acts. */
  readonly stopped: boolean;
  /** `spec.serverClaimRef` has the UID of the claim; v0.7.0 wrote none. */
  readonly uidRecorded: boolean;
  /** This process adopted the boot configuration and has not started the machine for it yet. */
  readonly firstBootPending: boolean;
  /** `spec.power` of the server equals that of the claim. */
  readonly powerRecorded: boolean;
}

type ClaimCaches = Pick<OperatorCaches, 'claims' | 'bootConfigurations'>;

export function claimFacts(server: Server, memory: ObservedSystem, caches: ClaimCaches, now: number): ClaimFacts {
  const found = bindingOf(server, memory, caches);
  if (found.binding !== 'bound') return found;
  const { claim, ...binding } = found;
  return { ...binding, ...boundClaimFacts(server, claim, memory, caches, now) };
}

type Binding =
  | Exclude<ClaimFacts, BoundClaim>
  | (Pick<BoundClaim, 'binding' | 'uid' | 'name'> & { readonly claim: ServerClaim });

function bindingOf(server: Server, memory: ObservedSystem, caches: ClaimCaches): Binding {
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
  return { binding: 'bound', uid, name, claim };
}

/**
 * Two servers may refer to one claim: after a pause of a former leader, or after a write whose response was lost.
 * `spec.serverRef` of the claim decides. The other server is released only if nothing was prepared on it for the claim and
 * it is off; a machine that runs, or that may have booted for the claim, is left for a person to judge.
 */
function isBoundElsewhere(
  { metadata, spec, status }: Server,
  claim: ServerClaim,
  memory: ObservedSystem,
  caches: ClaimCaches,
): boolean {
  const named = claim.spec.serverRef?.name;
  // v0.7.0 wrote references without a UID and did not record which claim had booted.
  if (named === undefined || named === metadata.name || spec.serverClaimRef?.uid === undefined) return false;
  const isServed = ({ serverRef }: ServerBootConfiguration['spec']) => serverRef.name === metadata.name;
  const boots = bootsOfClaim(claim.metadata, caches);
  const { namespace, name } = spec.bootConfigurationRef ?? {};
  const wasPrepared =
    status?.provisionedClaimUID !== undefined ||
    boots.some((boot) => isServed(boot.spec)) ||
    (name === claim.metadata.name && namespace === claim.metadata.namespace);
  return !wasPrepared && (memory.state?.value.powerState ?? status?.powerState) === 'Off';
}

/** The boot configuration of the claim that holds the server. */
export function boundBootOf(
  server: Server,
  memory: ObservedSystem,
  caches: ClaimCaches,
): ServerBootConfiguration | undefined {
  const found = bindingOf(server, memory, caches);
  return found.binding === 'bound' ? bootOf(found.claim, server, caches) : undefined;
}

/**
 * The boot configurations of a claim are in its namespace. Whoever may create some in another one could name the UID of the
 * claim as their owner.
 */
export function bootsOfClaim(
  { namespace, uid = '' }: Partial<ServerClaim['metadata']>,
  { bootConfigurations }: Pick<OperatorCaches, 'bootConfigurations'>,
): ServerBootConfiguration[] {
  return bootConfigurations.by('owner', uid).filter(({ metadata }) => metadata.namespace === namespace);
}

const bootOf = (claim: ServerClaim, server: Server, caches: ClaimCaches): ServerBootConfiguration | undefined =>
  bootsOfClaim(claim.metadata, caches).find(
    ({ spec, metadata }) => spec.serverRef.name === server.metadata.name && metadata.deletionTimestamp === undefined,
  );

function boundClaimFacts(
  server: Server,
  claim: ServerClaim,
  memory: ObservedSystem,
  caches: ClaimCaches,
  now: number,
): Omit<BoundClaim, 'binding' | 'uid' | 'name'> {
  const boot = bootOf(claim, server, caches);
  const bootFacts = boot && bootFactsOf(boot, server, now, { awaitsStart: awaitsStart(memory) });
  const wantsPower = claim.spec.power === 'On' ? 'On' : 'Off';
  const bootPolicy = claim.spec.bootPolicy ?? 'networkOnce';
  const record = provisioningRecord(server, claim, bootFacts);
  return {
    wantsPower,
    bootPolicy,
    boot: bootFacts,
    hasNothingToBoot: hasNothingToBoot(claim.spec),
    ...record,
    stopped: wantsPower === 'On' && isStopped(server, claim, bootPolicy, memory, record.provisioned, now),
    powerRecorded: server.spec.power === wantsPower,
    uidRecorded: server.spec.serverClaimRef?.uid !== undefined,
    firstBootPending: boot !== undefined && memory.firstBoot?.uid === boot.metadata.uid && !memory.firstBoot?.requested,
  };
}

/** The machine is off to boot a changed image. Boot data that were fetched before belong to the earlier boot. */
export const reprovisionStarts = (
  { metadata }: ServerBootConfiguration,
  server: Server,
  { state }: ObservedSystem,
): boolean =>
  isReprovisionPending(server, metadata.annotations?.[reprovisionAnnotation]) && state?.value.powerState === 'Off';

/** A boot configuration that was deleted and created again is no request to reprovision: its machine runs on. */
function provisioningRecord(server: Server, { metadata }: ServerClaim, boot: BootFacts | undefined) {
  const reprovision = isReprovisionPending(server, boot?.request);
  // A boot configuration of an adopted machine exists only for a request to boot an image.
  const adopted = boot === undefined && isAdoptedBy(server, { metadata });
  const hasBooted = adopted || server.status?.provisionedClaimUID === metadata.uid || (boot?.bootSeen ?? false);
  return { provisioned: !reprovision && hasBooted, reprovision, adopted };
}

/**
 * A machine with boot policy safeStop was on and is off, and nobody requested that. `spec.power` becomes On only after the
 * machine was observed on, so a power-on in progress is not mistaken for a loss of power.
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

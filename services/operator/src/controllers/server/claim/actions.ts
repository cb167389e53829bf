import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { adoptingClaimOf } from '@metal/api/wire/adoption.ts';
import { adoptedAnnotation } from '@metal/api/wire/contract.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { undefinedIfAbsent } from '@metal/kube/errors.ts';
import type { ObjectRef } from '@metal/kube/kinds/kind.ts';
import { StaleDecision } from '../../../errors.ts';
import { evictionOf } from '../../../scheduling/eligibility.ts';
import { whileOff } from '../boot/steps.ts';
import { memoryOf, patchSpec, type ServerReconcile } from '../machine.ts';
import { evictionKey } from './eviction-facts.ts';
import { type BoundClaim, bootsOfClaim } from './facts.ts';

function boundClaimIn({ facts }: ServerReconcile): BoundClaim {
  if (facts.claim.binding !== 'bound') throw new StaleDecision('the claim let go of the server');
  return facts.claim;
}

/** After a restore from a backup every object has a new UID. The claim that names this server keeps it. */
export async function adoptRestoredClaim(reconcile: ServerReconcile): Promise<void> {
  const ref = reconcile.object.spec.serverClaimRef;
  if (ref === undefined) throw new StaleDecision('the claim reference changed');
  const claim = await reconcile.context.client.get(ServerClaim, { namespace: ref.namespace, name: ref.name });
  if (claim.spec.serverRef?.name !== reconcile.object.metadata.name || claim.metadata.deletionTimestamp !== undefined)
    throw new StaleDecision(
      `claim ${reconcile.facts.claim.binding === 'unbound' ? '' : reconcile.facts.claim.name} names another server`,
    );
  const isAdopted = ref.uid !== undefined && adoptingClaimOf(reconcile.object) === ref.uid;
  await patchSpec(
    reconcile,
    { serverClaimRef: { ...ref, uid: claim.metadata.uid } },
    isAdopted ? { [adoptedAnnotation]: claim.metadata.uid } : {},
  );
}

/** The cache may lag: before a machine is taken from a claim, the claim is read from the API server. */
export async function verifyClaim(reconcile: ServerReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  const ref = object.spec.serverClaimRef;
  if (ref === undefined || facts.claim.binding !== 'notInCache') throw new StaleDecision('the claim reference changed');
  const claim = await findClaim(context.client, ref);
  // A reference of v0.7.0 has no UID: any claim of that name matches.
  if (claim !== undefined && claim.metadata.uid === (ref.uid ?? claim.metadata.uid)) {
    throw new StaleDecision(`claim ${facts.claim.name} exists; waiting until it is seen`);
  }
  memoryOf(reconcile).confirmedLostClaim = `${facts.claim.name}/${facts.claim.uid}`;
}

/** Without their CRD nothing is known of claims, and no machine is taken from one. @throws KubeError NotFound then */
const findClaim = (client: KubeClient, { namespace, name }: ObjectRef): Promise<ServerClaim | undefined> =>
  client.get(ServerClaim, { namespace, name }).catch(undefinedIfAbsent);

/** With the UID recorded, another claim that is created under this name does not match. */
export async function recordClaim(reconcile: ServerReconcile): Promise<void> {
  const { uid } = boundClaimIn(reconcile);
  await patchSpec(reconcile, { serverClaimRef: { ...reconcile.object.spec.serverClaimRef, uid } });
}

/** The server boots what its claim prepared: one guarded write sets the reference and the power of the claim. */
export async function adoptClaimBoot(reconcile: ServerReconcile): Promise<void> {
  const { object, context } = reconcile;
  const { uid, provisioned } = boundClaimIn(reconcile);
  const claimNamespace = object.spec.serverClaimRef?.namespace;
  const boot = bootsOfClaim({ namespace: claimNamespace, uid }, context.caches).find(
    ({ spec }) => spec.serverRef.name === object.metadata.name,
  );
  if (boot === undefined) throw new StaleDecision('the boot configuration of the claim is gone');
  const { name, namespace, uid: bootUid = '' } = boot.metadata;
  await patchSpec(reconcile, { bootConfigurationRef: { name, namespace }, power: powerToRecord(reconcile) });
  const memory = memoryOf(reconcile);
  memory.firstBoot = { uid: bootUid, requested: provisioned };
  if (!provisioned) memory.recordPreparedBoot(bootUid);
  // The tenant may set an override after the operator cleared the last one.
  memory.overrideCleared = false;
}

/** After a deployment the machine is off: for boot policy safeStop, On would look like a loss of power. */
function powerToRecord(reconcile: ServerReconcile): 'On' | 'Off' {
  const { deployment, power } = reconcile.facts;
  return deployment !== undefined && power === 'Off' ? 'Off' : boundClaimIn(reconcile).wantsPower;
}

/** Deletes the boot configuration, whose token may be known. The claim controller creates one with another token. */
export async function renewClaimBoot(reconcile: ServerReconcile): Promise<void> {
  const { facts, context, object } = reconcile;
  const boot = facts.claim.binding === 'bound' ? facts.claim.boot : undefined;
  const found = context.caches.bootConfigurations.get(object.spec.bootConfigurationRef ?? '');
  if (boot?.fetchedWhileOff === undefined || found?.metadata.uid !== boot.uid)
    throw new StaleDecision('the boot configuration of the claim changed');
  await patchSpec(reconcile, { bootConfigurationRef: null });
  await context.client.delete(ServerBootConfiguration, found.metadata, { uid: boot.uid });
  memoryOf(reconcile).bootRenewedAt = context.clock.now();
  reconcile.warn(
    'BootDataFetchedWhileOff',
    `${whileOff(boot.fetchedWhileOff)}; its boot is prepared anew, with another token`,
  );
}

export const recordPower = async (reconcile: ServerReconcile): Promise<void> =>
  patchSpec(reconcile, { power: boundClaimIn(reconcile).wantsPower });

/** The cache may lag: before the machine of a tenant is powered off, the eviction is verified at the API server. */
export async function verifyEviction(reconcile: ServerReconcile): Promise<void> {
  const { facts, object, signal } = reconcile;
  const { client } = reconcile.context;
  const ref = object.spec.serverClaimRef;
  const { claim, eviction } = facts;
  if (ref === undefined || claim.binding !== 'bound' || eviction === undefined)
    throw new StaleDecision('the claim reference changed');
  const [server, holder, rules] = await Promise.all([
    client.get(Server, { name: object.metadata.name }, { signal }),
    client.find(ServerClaim, { namespace: ref.namespace, name: ref.name }, { signal }),
    client.list(ServerReadinessRule, { signal }),
  ]);
  if (holder?.metadata.uid !== claim.uid || evictionOf(server, holder, rules.items) === undefined)
    throw new StaleDecision(`claim ${claim.name} is not to be evicted any more; waiting until that is seen`);
  memoryOf(reconcile).evictionVerified = evictionKey(claim.uid, eviction);
}

/** Reclaim policy Retain: the reference stays until a person clears it, and `evicted` takes the server from the claim. */
export async function markEvicted(reconcile: ServerReconcile): Promise<void> {
  boundClaimIn(reconcile);
  const serverClaimRef = { ...reconcile.object.spec.serverClaimRef, evicted: true };
  await patchSpec(reconcile, { serverClaimRef, bootConfigurationRef: null, power: 'Off' });
}

export const dropClaimRef = (reconcile: ServerReconcile): Promise<void> =>
  patchSpec(reconcile, { serverClaimRef: null, bootConfigurationRef: null, power: 'Off' });

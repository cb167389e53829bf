import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { evictionOf } from '../../../scheduling/eligibility.ts';
import { StaleDecision } from '../../../errors.ts';
import { whileOff } from '../boot/steps.ts';
import { memoryOf, patchSpec, type ServerReconcile } from '../machine.ts';
import { evictionKey } from './eviction-facts.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';

/** The server boots what its claim prepared: one guarded write takes over the reference and the wanted power. */
export async function adoptClaimBoot(reconcile: ServerReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  if (facts.claim.binding !== 'bound') throw new StaleDecision('the claim let go of the server');
  const { uid, wantsPower } = facts.claim;
  const boot = context.caches.bootConfigurations
    .by('owner', uid)
    .find(({ spec }) => spec.serverRef.name === object.metadata.name);
  if (boot === undefined) throw new StaleDecision('the boot configuration of the claim is gone');
  const { name, namespace, uid: bootUid = '' } = boot.metadata;
  await patchSpec(reconcile, { bootConfigurationRef: { name, namespace }, power: wantsPower });
  const memory = memoryOf(reconcile);
  memory.firstBoot = { uid: bootUid, requested: facts.claim.provisioned };
  if (!facts.claim.provisioned) memory.recordPreparedBoot(bootUid);
  // What its tenant leaves is not what was seen to be gone before.
  memory.overrideCleared = false;
}

/** Another one, with another token, is made for the claim and adopted: nobody starts the machine with this one. */
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

export async function recordPower(reconcile: ServerReconcile): Promise<void> {
  const { claim } = reconcile.facts;
  if (claim.binding !== 'bound') throw new StaleDecision('the claim let go of the server');
  await patchSpec(reconcile, { power: claim.wantsPower });
}

/** A cache may be late. Before a machine is taken from a claim, the API itself is asked whether the claim exists. */
export async function verifyClaim(reconcile: ServerReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  const ref = object.spec.serverClaimRef;
  if (ref === undefined || facts.claim.binding !== 'notInCache') throw new StaleDecision('the claim reference changed');
  const claim = await context.client.find(ServerClaim, { namespace: ref.namespace, name: ref.name });
  // A reference without UID, of v0.7.0, means whichever claim has the name.
  if (claim !== undefined && claim.metadata.uid === (ref.uid ?? claim.metadata.uid)) {
    throw new StaleDecision(`claim ${facts.claim.name} exists; waiting until it is seen`);
  }
  memoryOf(reconcile).confirmedLostClaim = `${facts.claim.name}/${facts.claim.uid}`;
}

/** A cache may be late: before a tenant's machine is switched off, the API itself is asked what evicts the claim. */
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

/** The reference stays for a person to clear, and says that the server is not the claim's any more. */
export async function markEvicted(reconcile: ServerReconcile): Promise<void> {
  const { facts, object } = reconcile;
  if (facts.claim.binding !== 'bound') throw new StaleDecision('the claim let go of the server');
  const serverClaimRef = { ...object.spec.serverClaimRef, evicted: true };
  await patchSpec(reconcile, { serverClaimRef, bootConfigurationRef: null, power: 'Off' });
}

/** From now on a claim that is made anew under the name is another one. */
export async function recordClaim(reconcile: ServerReconcile): Promise<void> {
  const { facts, object } = reconcile;
  if (facts.claim.binding !== 'bound') throw new StaleDecision('the claim let go of the server');
  await patchSpec(reconcile, { serverClaimRef: { ...object.spec.serverClaimRef, uid: facts.claim.uid } });
}

/** After a restore from a backup everything has a new UID. The claim that names this server keeps it. */
export async function adoptRestoredClaim(reconcile: ServerReconcile): Promise<void> {
  const ref = reconcile.object.spec.serverClaimRef;
  if (ref === undefined) throw new StaleDecision('the claim reference changed');
  const claim = await reconcile.context.client.get(ServerClaim, { namespace: ref.namespace, name: ref.name });
  if (claim.spec.serverRef?.name !== reconcile.object.metadata.name || claim.metadata.deletionTimestamp !== undefined)
    throw new StaleDecision(
      `claim ${reconcile.facts.claim.binding === 'unbound' ? '' : reconcile.facts.claim.name} names another server`,
    );
  await patchSpec(reconcile, { serverClaimRef: { ...ref, uid: claim.metadata.uid } });
}

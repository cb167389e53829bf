import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { type NetworkTarget, networkBootOnce } from '@metal/redfish/resources/boot-override.ts';
import { readInventory as readHardware } from '@metal/redfish/resources/inventory.ts';
import type { Bmc } from '@metal/redfish/http/bmc.ts';
import { RedfishError, wasNotApplied } from '@metal/redfish/errors.ts';
import { resetSystem, type ResetOptions } from '@metal/redfish/resources/power.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import { evictionOf } from '../../scheduling/eligibility.ts';
import { StaleDecision } from '../../errors.ts';
import { whileOff } from './claim/boot-start.ts';
import { admitCleanup, clearOverride, prepareCleanupBoot, recordHeldEvent } from './cleanup/actions.ts';
import { certifyCleanup, dropWaiver, recordCleanup, recordWaiver, removeBmcMark } from './cleanup/records.ts';
import { observeBios, resetBios, restoreBootOrder } from './cleanup/reset-actions.ts';
import { evictionKey } from './facts.ts';
import {
  abortWith,
  memoryOf,
  observe,
  onlyTo,
  patchSpec,
  type ServerReconcile,
  systemUriOf,
  withBmc,
} from './machine.ts';
import {
  consumeOperation,
  deferPark,
  dropInterruptedOperation,
  dropParkedOperation,
  dropUnsupportedOperation,
  park,
  rejectRediscovery,
  resetMachine,
  unpark,
} from './operations/actions.ts';
import { dropBootsOfDeleted, clearBoot, prepareProbeBoot, recordDeletionEvent } from './discovery/probe-boot.ts';
import { setBootOrder, setLight } from './settings/actions.ts';
import type { ServerAction } from './types.ts';
import { verifyOwnership } from './verify-ownership.ts';

export const serverActions: Record<ServerAction, (reconcile: ServerReconcile) => Promise<void>> = {
  recordDuplicateEvent,
  observe,
  readInventory,
  powerOff: (reconcile) => shutDown(reconcile, false),
  forceOff: (reconcile) => shutDown(reconcile, true),
  networkBoot,
  diskBoot,
  resetMachine,
  setLight,
  setBootOrder,
  prepareProbeBoot,
  clearBoot,
  clearOverride,
  admitCleanup,
  resetBios,
  observeBios,
  prepareCleanupBoot,
  recordHeldEvent,
  restoreBootOrder,
  recordCleanup,
  certifyCleanup,
  recordWaiver,
  dropWaiver,
  removeBmcMark,
  adoptClaimBoot,
  renewClaimBoot,
  recordPower,
  verifyClaim,
  recordClaim,
  adoptRestoredClaim,
  verifyEviction,
  markEvicted,
  dropClaimRef: (reconcile) => patchSpec(reconcile, { serverClaimRef: null, bootConfigurationRef: null, power: 'Off' }),
  dropMaintenanceRef,
  park,
  unpark,
  deferPark,
  dropParkedOperation,
  dropUnsupportedOperation,
  dropInterruptedOperation,
  rejectRediscovery,
  consumeOperation,
  dropBootsOfDeleted,
  recordDeletionEvent,
};

async function recordDuplicateEvent(reconcile: ServerReconcile): Promise<void> {
  const { duplicate } = reconcile.facts;
  if (duplicate === undefined) return;
  memoryOf(reconcile).reportedDuplicates = duplicate.key;
  reconcile.warn('DuplicateSystemUUID', duplicate.message);
}

async function readInventory(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  const { clock } = reconcile.context;
  const memory = memoryOf(reconcile);
  const onSystem = (state: SystemState) => memory.record(state, clock.now());
  const value = await withBmc(reconcile, (bmc) =>
    readHardware(bmc, uri, { ...onlyTo(reconcile), ...abortWith(reconcile), onSystem }),
  );
  memory.inventory = { value, at: clock.now() };
}

async function shutDown(reconcile: ServerReconcile, forced: boolean): Promise<void> {
  const uri = await systemUriOf(reconcile);
  await requestPower(reconcile, { target: 'Off', forced }, async (bmc, options) => {
    await verifyOwnership(reconcile);
    return resetSystem(bmc, uri, forced ? 'ForceOff' : 'GracefulShutdown', options);
  });
}

/**
 * Remembered when it is sent, not when it is answered: if the answer is lost, or is an error of a BMC that did it all
 * the same, the machine is about to change, and asking again at once could hit it twice.
 */
async function requestPower(
  reconcile: ServerReconcile,
  { target, forced = false }: { target: 'On' | 'Off'; forced?: boolean },
  request: (bmc: Bmc, options: ResetOptions) => Promise<unknown>,
): Promise<void> {
  const memory = memoryOf(reconcile);
  const { transition, preparedBoot } = memory;
  const onSend = () => memory.requested(target, forced, reconcile.context.clock.now());
  try {
    await withBmc(reconcile, (bmc) => request(bmc, { ...onlyTo(reconcile), onSend }));
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    if (wasNotApplied(error)) Object.assign(memory, { transition, preparedBoot });
    if (error.code === 'PowerMismatch') memory.invalidate();
    throw error;
  }
}

/** What the BMC is told for each method, the first that it takes: iPXE is loaded over either, and starts a UKI too. */
const targetsOf: Readonly<Record<string, readonly NetworkTarget[]>> = {
  iPXE: ['Pxe', 'UefiHttp'],
  UefiHttp: ['UefiHttp', 'Pxe'],
};
/** Other boot services do not say how; v0.7.0 always asks for PXE. */
const usualTargets: readonly NetworkTarget[] = ['Pxe', 'UefiHttp'];

/** The override is set just before the power-on that consumes it, so that no other reboot can pick it up. */
async function networkBoot(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  await requestPower(reconcile, { target: 'On' }, async (bmc, options) => {
    const memory = memoryOf(reconcile);
    memory.overrideCleared = false;
    const { bootMethod = '' } = reconcile.facts;
    const { target, rejections } = await networkBootOnce(
      bmc,
      uri,
      targetsOf[bootMethod] ?? usualTargets,
      onlyTo(reconcile),
    );
    for (const { message } of rejections)
      reconcile.warn('BootTargetRefused', `${message}. It boots from ${target} instead`);
    const onSend = () => {
      options.onSend?.();
      if (memory.firstBoot !== undefined) memory.firstBoot = { ...memory.firstBoot, requested: true };
    };
    await resetSystem(bmc, uri, 'On', { ...options, onSend, expectedPower: 'Off' });
  });
}

async function diskBoot(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  await requestPower(reconcile, { target: 'On' }, (bmc, options) => resetSystem(bmc, uri, 'On', options));
}

/** The server boots what its claim prepared: one guarded write takes over the reference and the wanted power. */
async function adoptClaimBoot(reconcile: ServerReconcile): Promise<void> {
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
async function renewClaimBoot(reconcile: ServerReconcile): Promise<void> {
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

async function recordPower(reconcile: ServerReconcile): Promise<void> {
  const { claim } = reconcile.facts;
  if (claim.binding !== 'bound') throw new StaleDecision('the claim let go of the server');
  await patchSpec(reconcile, { power: claim.wantsPower });
}

/** A cache may be late. Before a machine is taken from a claim, the API itself is asked whether the claim exists. */
async function verifyClaim(reconcile: ServerReconcile): Promise<void> {
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
async function verifyEviction(reconcile: ServerReconcile): Promise<void> {
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
async function markEvicted(reconcile: ServerReconcile): Promise<void> {
  const { facts, object } = reconcile;
  if (facts.claim.binding !== 'bound') throw new StaleDecision('the claim let go of the server');
  const serverClaimRef = { ...object.spec.serverClaimRef, evicted: true };
  await patchSpec(reconcile, { serverClaimRef, bootConfigurationRef: null, power: 'Off' });
}

/** From now on a claim that is made anew under the name is another one. */
async function recordClaim(reconcile: ServerReconcile): Promise<void> {
  const { facts, object } = reconcile;
  if (facts.claim.binding !== 'bound') throw new StaleDecision('the claim let go of the server');
  await patchSpec(reconcile, { serverClaimRef: { ...object.spec.serverClaimRef, uid: facts.claim.uid } });
}

/** A cache may be late, and whoever works on the machine must not have it started under their hands. */
async function dropMaintenanceRef(reconcile: ServerReconcile): Promise<void> {
  const ref = reconcile.object.spec.serverMaintenanceRef;
  if (ref === undefined) throw new StaleDecision('the maintenance reference changed');
  const maintenance = await reconcile.context.client.find(ServerMaintenance, ref);
  if (maintenance !== undefined)
    throw new StaleDecision(`ServerMaintenance ${ref.namespace}/${ref.name} exists; waiting until it is seen`);
  await patchSpec(reconcile, { serverMaintenanceRef: null, maintenanceBootConfigurationRef: null });
}

/** After a restore from a backup everything has a new UID. The claim that names this server keeps it. */
async function adoptRestoredClaim(reconcile: ServerReconcile): Promise<void> {
  const ref = reconcile.object.spec.serverClaimRef;
  if (ref === undefined) throw new StaleDecision('the claim reference changed');
  const claim = await reconcile.context.client.get(ServerClaim, { namespace: ref.namespace, name: ref.name });
  if (claim.spec.serverRef?.name !== reconcile.object.metadata.name || claim.metadata.deletionTimestamp !== undefined)
    throw new StaleDecision(
      `claim ${reconcile.facts.claim.binding === 'unbound' ? '' : reconcile.facts.claim.name} names another server`,
    );
  await patchSpec(reconcile, { serverClaimRef: { ...ref, uid: claim.metadata.uid } });
}

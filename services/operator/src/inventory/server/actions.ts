import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { type NetworkTarget, networkBootOnce } from '@metal/redfish/boot-override.ts';
import { readInventory as readHardware } from '@metal/redfish/inventory.ts';
import type { Bmc } from '@metal/redfish/bmc.ts';
import { RedfishError, wasRefused } from '@metal/redfish/errors.ts';
import { resetSystem, type ResetOptions } from '@metal/redfish/power.ts';
import type { SystemState } from '@metal/redfish/systems.ts';
import { evictionOf } from '../../claimability.ts';
import { StaleDecision } from '../../errors.ts';
import { whileOff } from './boot-start.ts';
import { admitCleanup, clearOverride, prepareCleanupBoot, tellHeld } from './cleanup-actions.ts';
import { certifyCleanup, dropWaiver, recordCleanup, recordWaiver, takeOverMark } from './cleanup-records.ts';
import { lookAtBios, resetBios, restoreBootOrder } from './cleanup-resets.ts';
import { evictionKey, type ServerAction } from './facts.ts';
import { cutWith, memoryOf, observe, onlyTo, patchSpec, type ServerTurn, systemUriOf, talk } from './machine.ts';
import {
  consumeOperation,
  deferPark,
  dropInterruptedOperation,
  dropParkedOperation,
  dropUnsupportedOperation,
  park,
  refuseRediscovery,
  resetMachine,
  unpark,
} from './operations.ts';
import { dropBootsOfDeleted, clearBoot, prepareProbeBoot, sayFarewell } from './probe-boot.ts';
import { setBootOrder, setLight } from './settings.ts';
import { verifyOwnership } from './verify-ownership.ts';

export const serverActions: Record<ServerAction, (turn: ServerTurn) => Promise<void>> = {
  tellDuplicate,
  observe,
  readInventory,
  powerOff: (turn) => shutDown(turn, false),
  forceOff: (turn) => shutDown(turn, true),
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
  lookAtBios,
  prepareCleanupBoot,
  tellHeld,
  restoreBootOrder,
  recordCleanup,
  certifyCleanup,
  recordWaiver,
  dropWaiver,
  takeOverMark,
  adoptClaimBoot,
  renewClaimBoot,
  recordPower,
  verifyClaim,
  recordClaim,
  adoptRestoredClaim,
  verifyEviction,
  markEvicted,
  dropClaimRef: (turn) => patchSpec(turn, { serverClaimRef: null, bootConfigurationRef: null, power: 'Off' }),
  dropMaintenanceRef,
  park,
  unpark,
  deferPark,
  dropParkedOperation,
  dropUnsupportedOperation,
  dropInterruptedOperation,
  refuseRediscovery,
  consumeOperation,
  dropBootsOfDeleted,
  sayFarewell,
};

async function tellDuplicate(turn: ServerTurn): Promise<void> {
  const { duplicate } = turn.facts;
  if (duplicate === undefined) return;
  memoryOf(turn).duplicateTold = duplicate.key;
  turn.warn('DuplicateSystemUUID', duplicate.message);
}

async function readInventory(turn: ServerTurn): Promise<void> {
  const uri = await systemUriOf(turn);
  const { clock } = turn.context;
  const memory = memoryOf(turn);
  const onSystem = (state: SystemState) => memory.saw(state, clock.now());
  const value = await talk(turn, (bmc) => readHardware(bmc, uri, { ...onlyTo(turn), ...cutWith(turn), onSystem }));
  memory.inventory = { value, at: clock.now() };
}

async function shutDown(turn: ServerTurn, forced: boolean): Promise<void> {
  const uri = await systemUriOf(turn);
  await askForPower(turn, { target: 'Off', forced }, async (bmc, options) => {
    await verifyOwnership(turn);
    return resetSystem(bmc, uri, forced ? 'ForceOff' : 'GracefulShutdown', options);
  });
}

/**
 * Remembered when it is sent, not when it is answered: if the answer is lost, or is an error of a BMC that did it all
 * the same, the machine is about to change, and asking again at once could hit it twice.
 */
async function askForPower(
  turn: ServerTurn,
  { target, forced = false }: { target: 'On' | 'Off'; forced?: boolean },
  ask: (bmc: Bmc, options: ResetOptions) => Promise<unknown>,
): Promise<void> {
  const memory = memoryOf(turn);
  const { transition, preparedBoot } = memory;
  const onSend = () => memory.asked(target, forced, turn.context.clock.now());
  try {
    await talk(turn, (bmc) => ask(bmc, { ...onlyTo(turn), onSend }));
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    if (wasRefused(error)) Object.assign(memory, { transition, preparedBoot });
    if (error.code === 'PowerMismatch') memory.distrust();
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
async function networkBoot(turn: ServerTurn): Promise<void> {
  const uri = await systemUriOf(turn);
  await askForPower(turn, { target: 'On' }, async (bmc, options) => {
    const memory = memoryOf(turn);
    memory.overrideCleared = false;
    const { bootMethod = '' } = turn.facts;
    const { target, refusals } = await networkBootOnce(bmc, uri, targetsOf[bootMethod] ?? usualTargets, onlyTo(turn));
    for (const { message } of refusals) turn.warn('BootTargetRefused', `${message}. It boots from ${target} instead`);
    const onSend = () => {
      options.onSend?.();
      if (memory.firstBoot !== undefined) memory.firstBoot = { ...memory.firstBoot, asked: true };
    };
    await resetSystem(bmc, uri, 'On', { ...options, onSend, expectedPower: 'Off' });
  });
}

async function diskBoot(turn: ServerTurn): Promise<void> {
  const uri = await systemUriOf(turn);
  await askForPower(turn, { target: 'On' }, (bmc, options) => resetSystem(bmc, uri, 'On', options));
}

/** The server boots what its claim prepared: one guarded write takes over the reference and the wanted power. */
async function adoptClaimBoot(turn: ServerTurn): Promise<void> {
  const { object, facts, context } = turn;
  if (facts.claim.standing !== 'held') throw new StaleDecision('the claim let go of the server');
  const { uid, wantsPower } = facts.claim;
  const boot = context.caches.bootConfigurations
    .by('owner', uid)
    .find(({ spec }) => spec.serverRef.name === object.metadata.name);
  if (boot === undefined) throw new StaleDecision('the boot configuration of the claim is gone');
  const { name, namespace, uid: bootUid = '' } = boot.metadata;
  await patchSpec(turn, { bootConfigurationRef: { name, namespace }, power: wantsPower });
  const memory = memoryOf(turn);
  memory.firstBoot = { uid: bootUid, asked: facts.claim.provisioned };
  if (!facts.claim.provisioned) memory.prepared(bootUid);
  // What its tenant leaves is not what was seen to be gone before.
  memory.overrideCleared = false;
}

/** Another one, with another token, is made for the claim and adopted: nobody starts the machine with this one. */
async function renewClaimBoot(turn: ServerTurn): Promise<void> {
  const { facts, context, object } = turn;
  const boot = facts.claim.standing === 'held' ? facts.claim.boot : undefined;
  const found = context.caches.bootConfigurations.get(object.spec.bootConfigurationRef ?? '');
  if (boot?.fetchedWhileOff === undefined || found?.metadata.uid !== boot.uid)
    throw new StaleDecision('the boot configuration of the claim changed');
  await patchSpec(turn, { bootConfigurationRef: null });
  await context.client.delete(ServerBootConfiguration, found.metadata, { uid: boot.uid });
  memoryOf(turn).bootRenewedAt = context.clock.now();
  turn.warn(
    'BootDataFetchedWhileOff',
    `${whileOff(boot.fetchedWhileOff)}; its boot is prepared anew, with another token`,
  );
}

async function recordPower(turn: ServerTurn): Promise<void> {
  const { claim } = turn.facts;
  if (claim.standing !== 'held') throw new StaleDecision('the claim let go of the server');
  await patchSpec(turn, { power: claim.wantsPower });
}

/** A cache may be late. Before a machine is taken from a claim, the API itself is asked whether the claim exists. */
async function verifyClaim(turn: ServerTurn): Promise<void> {
  const { object, facts, context } = turn;
  const ref = object.spec.serverClaimRef;
  if (ref === undefined || facts.claim.standing !== 'missing') throw new StaleDecision('the claim reference changed');
  const claim = await context.client.find(ServerClaim, { namespace: ref.namespace, name: ref.name });
  // A reference without UID, of v0.7.0, means whichever claim has the name.
  if (claim !== undefined && claim.metadata.uid === (ref.uid ?? claim.metadata.uid)) {
    throw new StaleDecision(`claim ${facts.claim.name} exists; waiting until it is seen`);
  }
  memoryOf(turn).claimKnownGone = `${facts.claim.name}/${facts.claim.uid}`;
}

/** A cache may be late: before a tenant's machine is switched off, the API itself is asked what evicts the claim. */
async function verifyEviction(turn: ServerTurn): Promise<void> {
  const { facts, object, signal } = turn;
  const { client } = turn.context;
  const ref = object.spec.serverClaimRef;
  const { claim, eviction } = facts;
  if (ref === undefined || claim.standing !== 'held' || eviction === undefined)
    throw new StaleDecision('the claim reference changed');
  const [server, holder, rules] = await Promise.all([
    client.get(Server, { name: object.metadata.name }, { signal }),
    client.find(ServerClaim, { namespace: ref.namespace, name: ref.name }, { signal }),
    client.list(ServerReadinessRule, { signal }),
  ]);
  if (holder?.metadata.uid !== claim.uid || evictionOf(server, holder, rules.items) === undefined)
    throw new StaleDecision(`claim ${claim.name} is not to be evicted any more; waiting until that is seen`);
  memoryOf(turn).evictionVerified = evictionKey(claim.uid, eviction);
}

/** The reference stays for a person to clear, and says that the server is not the claim's any more. */
async function markEvicted(turn: ServerTurn): Promise<void> {
  const { facts, object } = turn;
  if (facts.claim.standing !== 'held') throw new StaleDecision('the claim let go of the server');
  const serverClaimRef = { ...object.spec.serverClaimRef, evicted: true };
  await patchSpec(turn, { serverClaimRef, bootConfigurationRef: null, power: 'Off' });
}

/** From now on a claim that is made anew under the name is another one. */
async function recordClaim(turn: ServerTurn): Promise<void> {
  const { facts, object } = turn;
  if (facts.claim.standing !== 'held') throw new StaleDecision('the claim let go of the server');
  await patchSpec(turn, { serverClaimRef: { ...object.spec.serverClaimRef, uid: facts.claim.uid } });
}

/** A cache may be late, and whoever works on the machine must not have it started under their hands. */
async function dropMaintenanceRef(turn: ServerTurn): Promise<void> {
  const ref = turn.object.spec.serverMaintenanceRef;
  if (ref === undefined) throw new StaleDecision('the maintenance reference changed');
  const maintenance = await turn.context.client.find(ServerMaintenance, ref);
  if (maintenance !== undefined)
    throw new StaleDecision(`ServerMaintenance ${ref.namespace}/${ref.name} exists; waiting until it is seen`);
  await patchSpec(turn, { serverMaintenanceRef: null, maintenanceBootConfigurationRef: null });
}

/** After a restore from a backup everything has a new UID. The claim that names this server keeps it. */
async function adoptRestoredClaim(turn: ServerTurn): Promise<void> {
  const ref = turn.object.spec.serverClaimRef;
  if (ref === undefined) throw new StaleDecision('the claim reference changed');
  const claim = await turn.context.client.get(ServerClaim, { namespace: ref.namespace, name: ref.name });
  if (claim.spec.serverRef?.name !== turn.object.metadata.name || claim.metadata.deletionTimestamp !== undefined)
    throw new StaleDecision(
      `claim ${turn.facts.claim.standing === 'none' ? '' : turn.facts.claim.name} names another server`,
    );
  await patchSpec(turn, { serverClaimRef: { ...ref, uid: claim.metadata.uid } });
}

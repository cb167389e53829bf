import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { networkBootOnce } from '@metal/redfish/boot-override.ts';
import { readInventory as readHardware } from '@metal/redfish/inventory.ts';
import { resetSystem } from '@metal/redfish/power.ts';
import { StaleDecision } from '../../errors.ts';
import type { ServerAction } from './facts.ts';
import { memoryOf, observe, patchSpec, type ServerTurn, systemUriOf, talk } from './machine.ts';
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

export const serverActions: Record<ServerAction, (turn: ServerTurn) => Promise<void>> = {
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
  adoptClaimBoot,
  recordPower,
  verifyClaim,
  adoptRestoredClaim,
  dropClaimRef: (turn) => patchSpec(turn, { serverClaimRef: null, bootConfigurationRef: null, power: 'Off' }),
  dropMaintenanceRef: (turn) => patchSpec(turn, { serverMaintenanceRef: null }),
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

async function readInventory(turn: ServerTurn): Promise<void> {
  const uri = await systemUriOf(turn);
  const value = await talk(turn, (bmc) => readHardware(bmc, uri));
  memoryOf(turn).inventory = { value, at: turn.context.clock.now() };
}

async function shutDown(turn: ServerTurn, forced: boolean): Promise<void> {
  const uri = await systemUriOf(turn);
  await talk(turn, (bmc) => resetSystem(bmc, uri, forced ? 'ForceOff' : 'GracefulShutdown'));
  memoryOf(turn).asked('Off', forced, turn.context.clock.now());
}

/** The override is set just before the power-on that consumes it, so that no other reboot can pick it up. */
async function networkBoot(turn: ServerTurn): Promise<void> {
  const uri = await systemUriOf(turn);
  await talk(turn, async (bmc) => {
    await networkBootOnce(bmc, uri, { target: 'Pxe' });
    await resetSystem(bmc, uri, 'On');
  });
  memoryOf(turn).asked('On', false, turn.context.clock.now());
}

async function diskBoot(turn: ServerTurn): Promise<void> {
  const uri = await systemUriOf(turn);
  await talk(turn, (bmc) => resetSystem(bmc, uri, 'On'));
  memoryOf(turn).asked('On', false, turn.context.clock.now());
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
  const { name, namespace } = boot.metadata;
  await patchSpec(turn, { bootConfigurationRef: { name, namespace }, power: wantsPower });
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
  if (claim !== undefined && claim.metadata.uid === facts.claim.uid) {
    throw new StaleDecision(`claim ${facts.claim.name} exists; waiting until it is seen`);
  }
  memoryOf(turn).claimKnownGone = `${facts.claim.name}/${facts.claim.uid}`;
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

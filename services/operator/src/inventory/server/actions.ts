import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import type { Turn } from '@metal/kube/controller.ts';
import type { Bmc } from '@metal/redfish/bmc.ts';
import { readInventory as readHardware } from '@metal/redfish/inventory.ts';
import { networkBootOnce } from '@metal/redfish/boot-override.ts';
import { resetSystem } from '@metal/redfish/power.ts';
import { readSystem, readSystems } from '@metal/redfish/systems.ts';
import type { OperatorContext } from '../../context.ts';
import { StaleDecision } from '../../errors.ts';
import type { SystemMemory } from '../../observations.ts';
import type { ServerAction, ServerFacts } from './facts.ts';
import { dropProbeBoot, prepareProbeBoot } from './probe-boot.ts';

export type ServerTurn = Turn<Server, ServerFacts, OperatorContext>;

export const serverActions: Record<ServerAction, (turn: ServerTurn) => Promise<void>> = {
  observe,
  readInventory,
  powerOff: (turn) => shutDown(turn, false),
  forceOff: (turn) => shutDown(turn, true),
  networkBoot,
  diskBoot,
  prepareProbeBoot,
  dropProbeBoot,
  adoptClaimBoot,
  verifyClaim,
  dropClaimRef,
  clearRetry,
};

async function observe(turn: ServerTurn): Promise<void> {
  const uri = await systemUriOf(turn);
  const state = await talk(turn, (bmc) => readSystem(bmc, uri));
  verifyIdentity(turn, state.uuid);
  memoryOf(turn).saw(state, turn.context.clock.now());
}

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
async function adoptClaimBoot({ object, facts, context }: ServerTurn): Promise<void> {
  if (facts.claim.standing !== 'held') throw new StaleDecision('the claim let go of the server');
  const { uid, wantsPower } = facts.claim;
  const boot = context.caches.bootConfigurations
    .by('owner', uid)
    .find(({ spec }) => spec.serverRef.name === object.metadata.name);
  if (boot === undefined) throw new StaleDecision('the boot configuration of the claim is gone');
  const { name, namespace } = boot.metadata;
  await patchGuarded(object, context, { bootConfigurationRef: { name, namespace }, power: wantsPower });
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

async function dropClaimRef({ object, context }: ServerTurn): Promise<void> {
  await patchGuarded(object, context, { serverClaimRef: null, bootConfigurationRef: null, power: 'Off' });
}

async function clearRetry({ object, context }: ServerTurn): Promise<void> {
  const { name, resourceVersion } = object.metadata;
  const patch = { metadata: { annotations: { [operationAnnotation]: null } } };
  await context.client.mergePatch(Server, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
}

async function patchGuarded(
  { metadata }: Server,
  { client }: OperatorContext,
  spec: Record<string, unknown>,
): Promise<void> {
  const { name, resourceVersion } = metadata;
  if (resourceVersion === undefined) throw new TypeError(`Server ${name} was not read from the API`);
  await client.mergePatch(Server, { name }, { spec }, { resourceVersion });
}

function memoryOf({ object, context }: ServerTurn): SystemMemory {
  return context.access.system(object.metadata.uid ?? '');
}

function talk<T>({ facts, context }: ServerTurn, conversation: (bmc: Bmc) => Promise<T>): Promise<T> {
  const { bmcName, connection } = facts;
  if (connection === undefined) throw new StaleDecision(`BMC ${bmcName} has no address or credentials any more`);
  return context.access.talk(bmcName, connection, conversation);
}

/** A server that was created by hand may lack its URI; it is found by UUID and kept in memory of this call only. */
async function systemUriOf(turn: ServerTurn): Promise<string> {
  const { systemURI, systemUUID } = turn.object.spec;
  if (systemURI !== undefined && systemURI !== '') return systemURI;
  const systems = await talk(turn, (bmc) => readSystems(bmc));
  const found = systems.find(({ uuid }) => uuid?.toLowerCase() === systemUUID.toLowerCase());
  if (found === undefined)
    throw new StaleDecision(
      `BMC ${turn.facts.bmcName} reports no system with UUID ${systemUUID}; it reports ${systems.map(({ uuid }) => uuid ?? 'one without').join(', ') || 'none'}`,
    );
  return found.uri;
}

/** The URI may have come to name another machine (a blade was moved). Nothing is done to a machine that is not ours. */
function verifyIdentity({ object }: ServerTurn, seenUuid: string | undefined): void {
  const expected = object.spec.systemUUID.toLowerCase();
  if (seenUuid?.toLowerCase() === expected) return;
  throw new StaleDecision(
    `${object.spec.systemURI ?? 'the system'} reports UUID ${seenUuid ?? 'none'}, but this server is ${expected}; nothing is done to it until the two agree`,
  );
}

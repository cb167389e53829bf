import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { act, type Decision, go, type Row, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { blocker, ensurePower } from './power/steps.ts';
import type { ServerAction, ServerFacts, ServerPhase } from './types.ts';
import { freshForMs } from './power/facts.ts';
import type { ServerReason } from './reasons.ts';

type GlobalPhase = 'Maintenance' | 'Parked' | 'Error';
export type Step<Phase extends ServerPhase = never> = Decision<Phase, ServerAction, ServerReason>;

const row = rowsOf<ServerPhase, ServerFacts, ServerAction, ServerReason>();

/**
 * A phase of the table. That another Server has the machine, what a person asks for by annotation, a maintenance, and
 * settings of the machine come before the judgement of every phase, in this order.
 */
export function phase<const To extends readonly ServerPhase[]>(
  name: ServerPhase,
  to: To,
  decide: (server: ServerFacts) => Decision<To[number], ServerAction, ServerReason>,
): Row<ServerPhase, ServerFacts, ServerAction, ServerReason> {
  return row<readonly (GlobalPhase | To[number])[]>(
    [...new Set([...to, ...globalTransitionsOf(name)])],
    (server) =>
      duplicateStep(server) ??
      operationStep(name, server) ??
      waiverStep(name, server) ??
      maintenanceStep(name, server) ??
      settingsStep(name, server) ??
      decide(server),
  );
}

/** Where people and maintenances may take a server from each phase. */
function globalTransitionsOf(name: ServerPhase): GlobalPhase[] {
  const maintenance: GlobalPhase[] = name === 'Initial' || name === 'Maintenance' ? [] : ['Maintenance'];
  return name === 'Parked' ? maintenance : [...maintenance, 'Parked'];
}

/** Two Servers that drive one machine would work against each other: all but one are left alone in every phase. */
function duplicateStep({ duplicate }: ServerFacts): Step | undefined {
  if (duplicate === undefined) return undefined;
  const { isIgnored, message, isReported } = duplicate;
  if (!isReported) return act('recordDuplicateEvent', 'DuplicateSystemUUID', message);
  return isIgnored ? wait(minutes(60), 'DuplicateSystemUUID', message) : undefined;
}

function operationStep(name: ServerPhase, server: ServerFacts): Step<GlobalPhase> | undefined {
  const { operation, parked } = server;
  if (operation.kind === 'unpark')
    return parked ? act('unpark', 'Unparking') : act('consumeOperation', 'OperationConsumed', 'it is not parked');
  if (operation.kind === 'interrupted') return act('dropInterruptedOperation', 'OperationUncertain');
  if (parked) {
    if (operation.kind !== 'none') return act('dropParkedOperation', 'ParkedOperationDropped');
    return name === 'Parked' ? undefined : go('Parked', 'ParkRequested');
  }
  switch (operation.kind) {
    case 'none':
      return undefined;
    case 'unsupported':
      return act('dropUnsupportedOperation', 'UnsupportedOperation', operation.value);
    case 'park':
      return park(name, server);
    case 'reset':
      return blocker(server) ?? act('resetMachine', 'OperationRequested', operation.value);
    case 'retry':
      return name === 'Error' ? undefined : act('consumeOperation', 'RetryRequested');
    case 'rediscover':
      return rediscover(name);
    default:
      return operation satisfies never;
  }
}

/** Shut down first, then marked: what is parked is off. */
function park(name: ServerPhase, server: ServerFacts): Step<'Error'> | undefined {
  // The phase looks for the claim first.
  if (server.claim.binding === 'notInCache') return undefined;
  if (name !== 'Available' && name !== 'Reserved')
    return server.parkDeferralReported ? undefined : act('deferPark', 'ParkDeferred', `in state ${name}`);
  return (
    blocker(server) ??
    ensurePower(server, { target: 'Off', reason: 'ParkRequested', confirmation: 'stable' }) ??
    act('park', 'ParkRequested')
  );
}

function rediscover(name: ServerPhase): Step | undefined {
  if (name === 'Initial') return act('consumeOperation', 'RediscoveryRequested');
  if (name === 'Available' || name === 'Error') return undefined;
  return act('rejectRediscovery', 'RediscoverRefused', `in state ${name}`);
}

/** A waiver that lies ready would pass over a cleanup that nobody had thought of. */
function waiverStep(name: ServerPhase, { cleanup: { waiver } }: ServerFacts): Step | undefined {
  if (waiver === undefined || (waiver.trim() !== '' && (name === 'Cleanup' || name === 'Error'))) return undefined;
  return act('dropWaiver', 'WaiverDropped');
}

function maintenanceStep(name: ServerPhase, { maintenance }: ServerFacts): Step<'Maintenance'> | undefined {
  if (maintenance.state !== 'held' || name === 'Initial' || name === 'Maintenance') return undefined;
  return go('Maintenance', 'MaintenanceBegins', `ServerMaintenance ${maintenance.name}`);
}

/** Settings are sent once per wish, to a machine that has been looked at. Nothing is done to what is parked. */
function settingsStep(name: ServerPhase, server: ServerFacts): Step | undefined {
  if (name === 'Parked' || !server.bmc.isReachable || server.powerSeenMsAgo === undefined) return undefined;
  const { light, bootOrder } = server;
  if (light.isDone && bootOrder.isDone) return undefined;
  if (server.powerSeenMsAgo >= freshForMs) return act('observe', 'LookBeforeChange');
  if (!light.isDone) return act('setLight', 'LocatorLightWanted', light.desired);
  return act('setBootOrder', 'BootOrderWanted', bootOrder.desired);
}

/** What could not be read is tried again now and then, also by a process that has not read it itself. */
const incompleteForMs = minutes(15);

const isRereadDue = ({ hardwareIncomplete, hardwareSeenMsAgo = incompleteForMs }: ServerFacts): boolean =>
  hardwareIncomplete && hardwareSeenMsAgo >= incompleteForMs;

/** At rest, a machine is still looked at now and then. */
export function pollOrWait(server: ServerFacts, reason: ServerReason, message: string): Step {
  if (!server.bmc.isReachable) return wait(minutes(10), reason, message);
  if (server.nextPollInMs <= 0) return act(isRereadDue(server) ? 'readInventory' : 'observe', 'PeriodicLook');
  return wait(Math.max(server.nextPollInMs, seconds(1)), reason, message);
}

import { act, type Decision, go, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { MaintenanceAction, MaintenanceFacts, MaintenancePhase } from './facts.ts';
import type { MaintenanceReason } from './reasons.ts';

const row = rowsOf<MaintenancePhase, MaintenanceFacts, MaintenanceAction, MaintenanceReason>();
type Step<Phase extends MaintenancePhase = never> = Decision<Phase, MaintenanceAction, MaintenanceReason>;

const resyncMs = minutes(10);
/** A server is usually in Maintenance at once. */
const beginReportMs = seconds(5);
/** Updates of one server follow each other. */
const queueReportMs = seconds(15);

/** A maintenance waits for its server, has it until it is deleted, and then gives it to the next one. */
export const maintenanceTable: PhaseTable<MaintenancePhase, MaintenanceFacts, MaintenanceAction, MaintenanceReason> = {
  Pending: row(['InMaintenance'], (maintenance) => {
    if (maintenance.retryRequested) return act('retry', 'RetryRequested');
    return maintenance.holdsServer ? beginWith(maintenance) : awaitServer(maintenance);
  }),
  InMaintenance: row(['Pending', 'Failed'], (maintenance) => {
    const { holdsServer, serverName, server } = maintenance;
    if (server === undefined) return go('Pending', 'ServerNotFound', `Server ${serverName} does not exist`);
    if (!holdsServer) return go('Pending', 'ServerLost', `Server ${serverName} does not refer to it any more`);
    if (maintenance.retryRequested) return act('retry', 'RetryRequested');
    return prepareBoot(maintenance) ?? awaitMachine(serverName, server);
  }),
  Failed: row(['Pending'], ({ retryRequested }) => {
    if (retryRequested) return go('Pending', 'RetryRequested');
    return wait(resyncMs, 'BootConfigurationFailed', failedMessage);
  }),
};

function awaitServer(maintenance: MaintenanceFacts): Step {
  const { hold, heldBy, ahead, serverName, limit } = maintenance;
  if (hold !== undefined && hold.reason !== 'WaitingForApproval') return wait(resyncMs, hold.reason, hold.message);
  if (maintenance.isOwnerUnasked) return act('askOwner', 'OwnerMustKnow');
  if (hold !== undefined) return wait(resyncMs, hold.reason, hold.message);
  if (heldBy !== undefined) return queue(`ServerMaintenance ${heldBy} has Server ${serverName}; this one follows it`);
  if (ahead !== undefined) return queue(`ServerMaintenance ${ahead} goes first`);
  if (maintenance.isLimitReached)
    return wait(
      resyncMs,
      'FleetLimitReached',
      `${limit} servers are in maintenance, as many as --max-servers-in-maintenance allows; this one follows when one ends`,
    );
  return act('takeServer', 'ServerFree', `Server ${serverName}`);
}

const queue = (message: string): Step => wait(resyncMs, 'OthersFirst', message, queueReportMs);

const failedMessage =
  'its image cannot be booted; correct the template and annotate metal.ironcore.dev/operation=retry, or delete it';

/** One write reports that the server is in Maintenance; the events of the server and of the owner have it. */
function beginWith({ server, serverName, boot }: MaintenanceFacts): Step<'InMaintenance'> {
  if (boot === undefined && server !== undefined && server.state !== 'Maintenance')
    return awaitMachine(serverName, server);
  return go('InMaintenance', 'ServerTaken', `Server ${serverName}`, 'none');
}

function prepareBoot({ boot }: MaintenanceFacts): Step<'Failed'> | undefined {
  if (boot === undefined) return undefined;
  if (boot.state === 'foreign')
    return wait(
      resyncMs,
      'NameTaken',
      'a ServerBootConfiguration of this name belongs to something else; delete it or rename the maintenance',
    );
  if (boot.state === 'absent' || boot.state === 'outdated') return act('writeBoot', 'ImageToBoot');
  if (!boot.referenced) return act('referToBoot', 'ImageToBoot');
  if (boot.state === 'Error')
    return go(
      'Failed',
      'BootConfigurationFailed',
      boot.failure === undefined ? failedMessage : `${boot.failure}: ${failedMessage}`,
    );
  return boot.state === 'Pending'
    ? wait(resyncMs, 'WaitingForBootService', 'the boot service has not prepared its boot configuration yet')
    : undefined;
}

/**
 * Steps of a power change, which the Server reports itself: a maintenance that changes the power several times is not written each
 * time.
 */
const servedReasons: readonly string[] = [
  'MaintenanceServed',
  'MaintenanceWantsOn',
  'MaintenanceWantsOff',
  'MaintenanceBoots',
  'LookBeforeChange',
  'PowerNotYetConfirmed',
  'PowerChangeUnderWay',
  'PowerChangeNeverShowed',
  'PowerDrifted',
  'PowerOnRepeated',
  'ForcedPowerOffRepeated',
  'ShutdownIgnored',
  'WaitingForPowerOn',
  'WaitingForPowerOff',
];

/** The Server controller does the rest; its reason says what it waits for. */
function awaitMachine(name: string, { state, reason }: NonNullable<MaintenanceFacts['server']>): Step {
  if (state === 'Maintenance' && servedReasons.includes(reason)) return rest;
  const waits = reason === '' ? '' : ` (${reason})`;
  return wait(resyncMs, 'WaitingForServer', `Server ${name} is in state ${state}${waits}`, beginReportMs);
}

/** A flash is not interrupted. The references of the server are cleared last, so that an interrupted deletion finds what is left. */
export function decideDeletion(
  maintenance: MaintenanceFacts,
): Decision<MaintenancePhase, MaintenanceAction, MaintenanceReason> {
  const { holdsServer, flashedBy } = maintenance;
  if (holdsServer && flashedBy !== undefined)
    return wait(
      resyncMs,
      'UpdateUnderWay',
      `${flashedBy} writes firmware; this one ends when that is done or has failed`,
    );
  if (maintenance.labelledClaims.length > 0) return act('removeLabels', 'LastMaintenanceEnds');
  if (maintenance.boot !== undefined && isOwn(maintenance.boot)) return act('deleteBoot', 'MaintenanceDeleted');
  if (holdsServer) return act('releaseServer', 'MaintenanceDeleted');
  return rest;
}

const isOwn = ({ state }: NonNullable<MaintenanceFacts['boot']>): boolean => state !== 'absent' && state !== 'foreign';

import { act, go, wait } from '@metal/kube/controller/decide.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { blocker, pollOrWait } from '../bmc/steps.ts';
import { clearLeftOverride } from '../boot/steps.ts';
import { makeAvailable } from '../cleanup/steps.ts';
import { readHardwareAgain } from '../discovery/steps.ts';
import { ensurePower } from '../power/steps.ts';
import { resyncMs } from '../resync.ts';
import type { ServerFacts, ServerPhase, Step } from '../types.ts';

/** An older reading does not count: parts may have been swapped since. */
const partsFreshForMs = seconds(30);

const isOutside = (name: ServerPhase): boolean =>
  name === 'Initial' || name === 'Maintenance' || name === 'Decommissioned';

/** A maintenance begins in every phase but Initial, where the machine is not known yet. A parked or decommissioned server is left alone. */
export function maintenanceStep(name: ServerPhase, server: ServerFacts): Step<'Maintenance'> | undefined {
  const { maintenance, parked } = server;
  if (maintenance.state !== 'held' || parked || isOutside(name)) return undefined;
  // The events of an update show its result; its status and the history of the server have the beginning.
  const event = maintenance.isOfUpdate ? 'none' : undefined;
  return (
    readPartsBefore(server) ?? go('Maintenance', 'MaintenanceBegins', `ServerMaintenance ${maintenance.name}`, event)
  );
}

/** Only a server without a claim is compared afterwards. Without its BMC, it is discovered instead. */
function readPartsBefore(server: ServerFacts): Step | undefined {
  const isCompared = server.claim.binding === 'unbound' && server.bmc.isReachable && server.inventoryRead;
  return isCompared ? readParts(server) : undefined;
}

function readParts({ maintenance: { partsReadMsAgo } }: ServerFacts): Step | undefined {
  const isFresh = partsReadMsAgo !== undefined && partsReadMsAgo < partsFreshForMs;
  return isFresh ? undefined : act('readParts', 'HardwareMayHaveChanged');
}

/** Phase Maintenance. */
export function maintain(
  server: ServerFacts,
): Step<'Available' | 'Cleanup' | 'Decommissioning' | 'Error' | 'Initial' | 'Reserved' | 'Released'> {
  const { state, name } = server.maintenance;
  if (state === 'dangling')
    return act(
      'dropMaintenanceRef',
      'MaintenanceGone',
      `ServerMaintenance ${name} does not exist, or names another server`,
    );
  if (state === 'held') return serveMaintenance(server);
  if (state === 'pending')
    return wait(resyncMs, 'MaintenancePending', `waiting for ServerMaintenance ${name} to begin`);
  return blocker(server) ?? leaveMaintenance(server);
}

/** The power state follows the maintenance. If it has a boot configuration, every start boots that. */
function serveMaintenance(server: ServerFacts): Step {
  const { wantsPower, powerRecorded, boot, name } = server.maintenance;
  const served = pollOrWait(server, 'MaintenanceServed', `ServerMaintenance ${name} has the server`);
  if (wantsPower === undefined) return blocker(server) ?? served;
  const reason = wantsPower === 'On' ? 'MaintenanceWantsOn' : 'MaintenanceWantsOff';
  if (wantsPower === 'On') {
    const waits = awaitBoot(server);
    if (waits !== undefined) return waits;
  }
  // The boot service serves no machine that has to be off.
  if (!powerRecorded) return act('recordMaintenancePower', reason);
  const start = boot === undefined ? 'diskBoot' : 'networkBoot';
  return (
    blocker(server) ??
    (wantsPower === 'On' ? bootFromOff(server) : undefined) ??
    untilRepaired(server, ensurePower(server, { target: wantsPower, reason, start, mayForce: true })) ??
    served
  );
}

/** A machine that does not follow stays in Maintenance, where somebody may work on it: it is observed, and nothing is sent. */
const untilRepaired = (server: ServerFacts, step: Step<'Error'> | undefined): Step | undefined =>
  step?.kind === 'go' ? wait(Math.max(server.nextPollInMs, seconds(1)), step.reason, step.message) : step;

function awaitBoot({ maintenance: { boot, missingBoot, name } }: ServerFacts): Step | undefined {
  if (missingBoot !== undefined)
    return wait(
      resyncMs,
      'WaitingForBootConfiguration',
      `the image of ServerMaintenance ${name}: ServerBootConfiguration ${missingBoot} does not exist`,
    );
  if (boot !== undefined && boot.state !== 'Ready')
    return wait(resyncMs, 'WaitingForBootConfiguration', `the image of ServerMaintenance ${name}: ${boot.explanation}`);
  return undefined;
}

/**
 * A machine that runs something else is powered off first. The reconcile ends when it is off, so that the status records the boot
 * before the machine is started: a process that takes over after a crash does not interrupt the image of the maintenance.
 */
function bootFromOff(server: ServerFacts): Step | undefined {
  const { boot, startedBootUid } = server.maintenance;
  if (boot === undefined || startedBootUid === boot.uid || boot.bootSeen) return undefined;
  const off = ensurePower(server, {
    target: 'Off',
    reason: 'MaintenanceBoots',
    confirmation: 'fresh',
    mayForce: true,
  });
  return untilRepaired(server, off) ?? wait(1, 'MaintenanceBoots', 'off; the image of the maintenance is booted next');
}

/** The power state and the boot of a claim are restored in Reserved; its machine does not go on with the image of a maintenance. */
function leaveMaintenance(
  server: ServerFacts,
): Step<'Available' | 'Cleanup' | 'Decommissioning' | 'Error' | 'Initial' | 'Reserved' | 'Released'> {
  const { claim, maintenance, stateBeforeMaintenance, overrideSeen } = server;
  if (claim.binding === 'unbound') return leaveUnclaimed(server);
  const off =
    maintenance.startedBootUid === undefined
      ? undefined
      : ensurePower(server, { target: 'Off', reason: 'MaintenanceEnds', confirmation: 'fresh', mayForce: true });
  return (
    off ??
    (overrideSeen ? clearLeftOverride(server) : undefined) ??
    readHardwareAgain(server) ??
    (stateBeforeMaintenance === 'Released' ? go('Released', 'MaintenanceEnds') : go('Reserved', 'MaintenanceEnds'))
  );
}

/** Servers in these states were discovered. */
const discoveredStates: readonly (string | undefined)[] = ['Available', 'Reserved', 'Released', 'Cleanup', 'Parked'];

/** An unchanged server goes back without a discovery. The parts are read with the machine off, as before the maintenance. */
function leaveUnclaimed(server: ServerFacts): Step<'Available' | 'Cleanup' | 'Decommissioning' | 'Error' | 'Initial'> {
  const { maintenance, stateBeforeMaintenance, overrideSeen } = server;
  if (!discoveredStates.includes(stateBeforeMaintenance))
    return readHardwareAgain(server) ?? go('Initial', 'MaintenanceEnds', 'its discovery begins again');
  return (
    leaveWorse(server) ??
    ensurePower(server, { target: 'Off', reason: 'UnclaimedServersStayOff', confirmation: 'fresh', mayForce: true }) ??
    (overrideSeen ? clearLeftOverride(server) : undefined) ??
    readParts(server) ??
    (maintenance.comparison?.kind === 'unchanged'
      ? makeAvailable(server, go('Available', 'MaintenanceEnds', 'its hardware is unchanged'))
      : go('Initial', 'MaintenanceEnds', discoveredAnew(server)))
  );
}

function leaveWorse(server: ServerFacts): Step<'Error'> | undefined {
  const { comparison } = server.maintenance;
  if (comparison?.kind !== 'worse') return undefined;
  if (server.unhealthyPartsDue) return act('readUnhealthyParts', 'HealthNotOK');
  return go('Error', 'WorseAfterMaintenance', comparison.message);
}

const discoveredAnew = ({ maintenance: { comparison } }: ServerFacts): string =>
  comparison?.kind === 'changed'
    ? `discovered anew, as parts changed: ${comparison.difference}`
    : 'discovered anew, as parts may have changed';

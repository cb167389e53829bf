import { act, go, wait } from '@metal/kube/controller/decide.ts';
import { blocker, pollOrWait } from '../bmc/steps.ts';
import { readHardwareAgain } from '../discovery/steps.ts';
import { ensurePower } from '../power/steps.ts';
import { resyncMs } from '../resync.ts';
import type { ServerFacts, ServerPhase, Step } from '../types.ts';

/** A maintenance begins in every phase but Initial, where the machine is not known yet. */
export function maintenanceStep(name: ServerPhase, { maintenance }: ServerFacts): Step<'Maintenance'> | undefined {
  if (maintenance.state !== 'held' || name === 'Initial' || name === 'Maintenance') return undefined;
  return go('Maintenance', 'MaintenanceBegins', `ServerMaintenance ${maintenance.name}`);
}

/** Phase Maintenance. */
export function maintain(server: ServerFacts): Step<'Error' | 'Initial' | 'Reserved' | 'Released'> {
  const { state, name } = server.maintenance;
  if (state === 'dangling')
    return act('dropMaintenanceRef', 'MaintenanceGone', `ServerMaintenance ${name} does not exist`);
  if (state === 'held') return serveMaintenance(server);
  if (state === 'pending')
    return wait(resyncMs, 'MaintenancePending', `waiting for ServerMaintenance ${name} to begin`);
  return blocker(server) ?? readHardwareAgain(server) ?? leaveMaintenance(server);
}

/** The power state follows the maintenance. If it has a boot configuration, every start boots that. */
function serveMaintenance(server: ServerFacts): Step<'Error'> {
  const { wantsPower, boot, missingBoot, name } = server.maintenance;
  const served = pollOrWait(server, 'MaintenanceServed', `ServerMaintenance ${name} has the server`);
  if (wantsPower === undefined) return blocker(server) ?? served;
  if (wantsPower === 'On' && missingBoot !== undefined)
    return wait(
      resyncMs,
      'WaitingForBootConfiguration',
      `the image of ServerMaintenance ${name}: ServerBootConfiguration ${missingBoot} does not exist`,
    );
  if (wantsPower === 'On' && boot !== undefined && boot.state !== 'Ready')
    return wait(resyncMs, 'WaitingForBootConfiguration', `the image of ServerMaintenance ${name}: ${boot.explanation}`);
  const start = boot === undefined ? 'diskBoot' : 'networkBoot';
  const reason = wantsPower === 'On' ? 'MaintenanceWantsOn' : 'MaintenanceWantsOff';
  return blocker(server) ?? ensurePower(server, { target: wantsPower, reason, start, mayForce: true }) ?? served;
}

/** A server without a claim is discovered again, as parts may have been swapped. */
function leaveMaintenance({ claim, stateBeforeMaintenance }: ServerFacts): Step<'Initial' | 'Reserved' | 'Released'> {
  if (claim.binding === 'unbound')
    return go('Initial', 'MaintenanceEnds', 'discovered anew, as parts may have changed');
  return stateBeforeMaintenance === 'Released' ? go('Released', 'MaintenanceEnds') : go('Reserved', 'MaintenanceEnds');
}

import type { ServerFacts, ServerPhase, Step } from '../types.ts';
import { ensurePower } from '../power/steps.ts';
import { blocker, pollOrWait } from '../bmc/steps.ts';
import { resyncMs } from '../table.ts';
import { go, wait } from '@metal/kube/controller/decide.ts';

export function maintenanceStep(name: ServerPhase, { maintenance }: ServerFacts): Step<'Maintenance'> | undefined {
  if (maintenance.state !== 'held' || name === 'Initial' || name === 'Maintenance') return undefined;
  return go('Maintenance', 'MaintenanceBegins', `ServerMaintenance ${maintenance.name}`);
}

/** The machine is as the maintenance wants it; one that brings an image boots it whenever it is started. */
export function maintain(server: ServerFacts): Step<'Error'> {
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

/** A server that nobody holds is discovered anew: parts may have been swapped. */
export function leaveMaintenance({
  claim,
  stateBeforeMaintenance,
}: ServerFacts): Step<'Initial' | 'Reserved' | 'Released'> {
  if (claim.binding === 'unbound')
    return go('Initial', 'MaintenanceEnds', 'discovered anew, as parts may have changed');
  return stateBeforeMaintenance === 'Released' ? go('Released', 'MaintenanceEnds') : go('Reserved', 'MaintenanceEnds');
}

import { act, type Decision, go, minutes, type PhaseTable, rowsOf, wait } from '@metal/kube/decide.ts';
import type { BmcAction, BmcFacts, BmcPhase } from './facts.ts';

const row = rowsOf<BmcPhase, BmcFacts, BmcAction>();

const untilSomebodyActs = minutes(60);

/** A BMC object is Enabled while its management controller answers us. Error is what only a person can change. */
export const bmcPhases: PhaseTable<BmcPhase, BmcFacts, BmcAction> = {
  Pending: row(['Enabled', 'Error'], (bmc) => {
    if (bmc.obstacle !== undefined) return go('Error', bmc.obstacle.reason, bmc.obstacle.message);
    if (bmc.failure?.needsHuman) return go('Error', bmc.failure.reason, bmc.failure.message);
    if (bmc.failure !== undefined && bmc.failure.retryInMs > 0)
      return wait(bmc.failure.retryInMs, bmc.failure.reason, bmc.failure.message);
    if (bmc.failure !== undefined || bmc.observation === undefined) return act('observe', 'NotYetSeen');
    return go('Enabled', 'Connected');
  }),
  Enabled: row(['Pending', 'Error'], (bmc) => {
    if (bmc.obstacle !== undefined) return go('Error', bmc.obstacle.reason, bmc.obstacle.message);
    if (bmc.failure?.needsHuman) return go('Error', bmc.failure.reason, bmc.failure.message);
    if (bmc.failure !== undefined) return go('Pending', bmc.failure.reason, bmc.failure.message);
    if (bmc.nextLookInMs <= 0) return act('observe', 'PeriodicLook');
    return keepServers(bmc);
  }),
  Error: row(['Pending'], (bmc) => {
    if (bmc.obstacle !== undefined) return wait(untilSomebodyActs, bmc.obstacle.reason, bmc.obstacle.message);
    if (bmc.failure?.needsHuman)
      return wait(
        untilSomebodyActs,
        bmc.failure.reason,
        `${bmc.failure.message}; not tried again until the BMC, its BMCSecret or its Endpoint changes`,
      );
    return go('Pending', 'ConfigurationChanged');
  }),
};

function keepServers(bmc: BmcFacts): Decision<never, BmcAction> {
  if (!bmc.managerRecorded) return act('recordManager', 'ManagerFound');
  if (bmc.systems.create.length > 0) return act('createServers', 'SystemFound');
  if (bmc.systems.update.length > 0) return act('updateServers', 'SystemMovedOrLabelled');
  return wait(bmc.nextLookInMs, 'Connected', 'BMC is connected');
}

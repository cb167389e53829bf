import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { separatedMacAddress } from '@metal/api/mac-address.ts';
import type { SystemSummary } from '@metal/redfish/resources/systems.ts';
import { healthCondition } from '../../health-condition.ts';
import { problemCondition } from '../../problem-condition.ts';
import { condition, readyCondition, type ReportedCondition } from '../../ready-condition.ts';
import { inventoryCondition } from '../../inventory-condition.ts';
import type { BmcFacts, BmcPhase } from './facts.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { isResetting, lastResetTimeOf, resetCondition, resetFieldOf } from '../reset/report.ts';

export function reportBmc(bmc: BMC, facts: BmcFacts, outcome: Outcome<BmcPhase>): StatusReport {
  const connected =
    outcome.phase === 'Enabled' ? { reason: 'Connected', message: connectedMessage(facts.rejection) } : undefined;
  return {
    fields: {
      ...addressFields(bmc, facts),
      ...managerFields(bmc, facts),
      lastResetTime: lastResetTimeOf(bmc, facts),
      reset: resetFieldOf(facts, outcome),
      rejectedLogin: facts.rejectedLogin,
      sshHostKeyFingerprint: facts.sshHostKey ?? bmc.status?.sshHostKeyFingerprint,
      // v0.7.0 shows a BMC that resets as Pending; programs that wait for a BMC know no other state.
      state: isResetting(outcome.phase) ? 'Pending' : outcome.phase,
    },
    conditions: [
      readyCondition(bmc, outcome, connected),
      ...resetCondition(bmc, facts, outcome),
      ...systemsCondition(bmc, facts),
      ...inventoryCondition(bmc, missingOf(facts)),
      ...healthCondition(bmc, facts.health),
    ],
  };
}

/** A BMC that works may still have a system without a Server: `kubectl get bmc -o wide` shows only this message. */
const connectedMessage = (rejection: BmcFacts['rejection']): string =>
  rejection === undefined
    ? 'BMC is connected'
    : `BMC is connected; a system has no Server (${rejection.reason}): see condition SystemsAccepted`;

function addressFields(bmc: BMC, { ip, macAddress }: BmcFacts): Record<string, unknown> {
  return { ip: ip ?? bmc.status?.ip, macAddress: separatedMacAddress(macAddress) ?? bmc.status?.macAddress };
}

/** The last known values stay while the BMC does not answer. */
function managerFields({ status }: BMC, { observation }: BmcFacts): Record<string, unknown> {
  const manager = observation?.manager;
  return {
    manufacturer: manager?.manufacturer ?? manufacturerOf(observation?.systems) ?? status?.manufacturer,
    model: manager?.model ?? status?.model,
    sku: manager?.partNumber ?? status?.sku,
    serialNumber: manager?.serialNumber ?? status?.serialNumber,
    firmwareVersion: manager?.firmwareVersion ?? status?.firmwareVersion,
    powerState: manager === undefined ? status?.powerState : manager.powerState,
  };
}

function manufacturerOf(systems: readonly SystemSummary[] = []): string | undefined {
  return (systems.find(({ noMachineBecause }) => noMachineBecause === undefined) ?? systems[0])?.manufacturer;
}

const mostNamed = 3;

function noMachineMessage(systems: readonly SystemSummary[]): string {
  const named = systems.slice(0, mostNamed).map(({ uri, noMachineBecause = '' }) => `${uri}: ${noMachineBecause}`);
  const more = systems.length > mostNamed ? ` and ${systems.length - mostNamed} more` : '';
  return `${systems.length === 1 ? '1 system is' : `${systems.length} systems are`} no machine and gets no Server (${named.join(', ')}${more})`;
}

const missingOf = ({ observation }: BmcFacts) => observation && (observation.missing ?? []);

function systemsCondition(
  bmc: BMC,
  { observation, rejection, systems: { noMachines } }: BmcFacts,
): ReportedCondition[] {
  if (observation === undefined) return [];
  const count = observation.systems.length - noMachines.length;
  const problem = rejection && { reason: rejection.reason, message: rejection.message };
  const type = 'SystemsAccepted';
  // As it should be: an enclosure, a switch or a power shelf has no systems, and GPU baseboards and DPUs are no machines.
  if (problem === undefined && noMachines.length > 0)
    return [condition(bmc, type, 'True', { reason: 'NoMachine', message: noMachineMessage(noMachines) })];
  if (problem === undefined && observation.systems.length === 0 && observation.missing?.length === 0)
    return [condition(bmc, type, 'True', { reason: 'NoSystems', message: 'the BMC manages no systems: no Servers' })];
  return problemCondition(bmc, type, problem, {
    reason: 'AllSystemsKnown',
    message: `${count} ${count === 1 ? 'system has its' : 'systems have their'} Server`,
  });
}

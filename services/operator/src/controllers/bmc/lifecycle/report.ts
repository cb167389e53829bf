import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { separatedMacAddress } from '@metal/api/mac-address.ts';
import { problemCondition } from '../../problem-condition.ts';
import { readyCondition, type ReportedCondition } from '../../ready-condition.ts';
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
    manufacturer: manager?.manufacturer ?? observation?.systems[0]?.manufacturer ?? status?.manufacturer,
    model: manager?.model ?? status?.model,
    sku: manager?.partNumber ?? status?.sku,
    serialNumber: manager?.serialNumber ?? status?.serialNumber,
    firmwareVersion: manager?.firmwareVersion ?? status?.firmwareVersion,
    powerState: manager === undefined ? status?.powerState : manager.powerState,
  };
}

const missingOf = ({ observation }: BmcFacts) => observation && (observation.missing ?? []);

function systemsCondition(bmc: BMC, { observation, rejection }: BmcFacts): ReportedCondition[] {
  if (observation === undefined) return [];
  const count = observation.systems.length;
  const problem = rejection && { reason: rejection.reason, message: rejection.message };
  return problemCondition(bmc, 'SystemsAccepted', problem, {
    reason: 'AllSystemsKnown',
    message: `${count} ${count === 1 ? 'system has its' : 'systems have their'} Server`,
  });
}

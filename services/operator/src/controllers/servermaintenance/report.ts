import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { readyCondition } from '../ready-condition.ts';
import type { MaintenanceFacts, MaintenancePhase } from './facts.ts';

/** Ready: the server is in Maintenance for this one. Its power may be about to change. */
export function reportMaintenance(
  maintenance: ServerMaintenance,
  { serverName }: MaintenanceFacts,
  outcome: Outcome<MaintenancePhase>,
): StatusReport {
  const ready =
    outcome.phase === 'InMaintenance' && outcome.decision.kind === 'rest'
      ? { reason: 'InMaintenance', message: `Server ${serverName} is in Maintenance until this is deleted` }
      : undefined;
  return { fields: { state: outcome.phase }, conditions: [readyCondition(maintenance, outcome, ready)] };
}

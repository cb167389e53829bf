import { condition, type ReportedCondition } from '../controllers/ready-condition.ts';
import type { UpdateFacts, UpdateObject } from './types.ts';

/** Types and reasons of v0.7.0, derived from the attempt. */
export function maintenanceConditions(object: UpdateObject, facts: UpdateFacts, isDone: boolean): ReportedCondition[] {
  const { window, attempt } = facts;
  const hasStarted = attempt.startTime !== undefined;
  const conditions: ReportedCondition[] = [];
  const add = (type: string, status: 'True' | 'False', reason: string, message: string): void =>
    void conditions.push(condition(object, type, status, { reason, message }));
  if (window.maintenances.length > 0 || hasStarted)
    add('ServerMaintenanceCreated', 'True', 'ServerMaintenanceHasBeenCreated', 'a ServerMaintenance was created');
  if (hasStarted) add('ServerMaintenanceWaiting', 'False', 'ServerMaintenanceApproval', 'the maintenance began');
  else if (window.state === 'requested')
    add('ServerMaintenanceWaiting', 'True', 'ServerMaintenanceWaitingOnApproval', window.explanation);
  if (isDone && hasStarted)
    add('ServerMaintenanceDeleted', 'True', 'ServerMaintenanceHasBeenDeleted', 'the ServerMaintenance was deleted');
  if (attempt.bmcResetTime !== undefined)
    add('ResetIssued', 'True', 'ResetIssued', 'the BMC was restarted before the change');
  return conditions;
}

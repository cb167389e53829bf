import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { condition, type ReportedCondition } from '../../ready-condition.ts';
import type { BmcFacts, BmcPhase } from '../lifecycle/facts.ts';
import type { ResetRecord } from './resets.ts';

const underWay = {
  User: {
    reason: 'UserRequested',
    message: 'BMC reset initiated by user. Waiting for it to come back online.',
  },
  Automatic: {
    reason: 'AutoResetting',
    message:
      'BMC reset initiated automatically after repeated connection failures. Waiting for it to come back online.',
  },
} as const;

export const isResetting = (phase: BmcPhase): boolean => phase === 'ResetRequested' || phase === 'Resetting';

/** The record that is written together with the new phase: a reset is marked as sent before it is sent. */
export function resetFieldOf({ reset }: BmcFacts, outcome: Outcome<BmcPhase>): ResetRecord | undefined {
  const { record, pending, wanted } = reset;
  if (outcome.phase === 'ResetRequested') return pending ?? newRecord(wanted, outcome.phaseSince);
  if (outcome.phase === 'Resetting')
    return pending === undefined ? record : { ...pending, sentAt: outcome.phaseSince, attempts: pending.attempts + 1 };
  if (outcome.phase === 'Enabled' || record === undefined) return undefined;
  if (reset.outcome?.kind === 'failed') return { ...record, failedAt: outcome.phaseSince };
  return record.failedAt === undefined ? undefined : record;
}

function newRecord(wanted: BmcFacts['reset']['wanted'], since: string): ResetRecord | undefined {
  if (wanted === undefined) return undefined;
  const { requestedBy, method, attempts } = wanted;
  return { requestedBy, method, attempts, since };
}

/** No condition before the first reset. */
export function resetCondition(bmc: BMC, { reset }: BmcFacts, outcome: Outcome<BmcPhase>): ReportedCondition[] {
  const requestedBy = (reset.pending ?? reset.wanted ?? reset.record)?.requestedBy;
  if (isResetting(outcome.phase) && requestedBy !== undefined)
    return [condition(bmc, 'Reset', 'True', underWay[requestedBy])];
  if (reset.outcome?.kind === 'failed') return [condition(bmc, 'Reset', 'False', reset.outcome)];
  const isAwaited = bmc.status?.conditions?.some(({ type, status }) => type === 'Reset' && status === 'True') === true;
  const isOver = outcome.phase === 'Enabled' || reset.isSent;
  // A failed or rejected reset does not become complete when the BMC answers.
  return isAwaited && isOver
    ? [condition(bmc, 'Reset', 'False', { reason: 'ResetComplete', message: 'BMC reset is complete' })]
    : [];
}

/** The latest of the time that the BMC reports, the recorded time, and the time of the request that was just sent. */
export function lastResetTimeOf(bmc: BMC, { observation, reset }: BmcFacts): string | undefined {
  const sentAt = reset.outcome?.kind === 'sent' ? reset.record?.sentAt : undefined;
  return [observation?.manager?.lastResetTime, bmc.status?.lastResetTime, sentAt]
    .filter((time) => time !== undefined)
    .toSorted((a, b) => Date.parse(a) - Date.parse(b))
    .at(-1);
}

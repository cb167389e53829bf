import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { condition, type ReportedCondition } from '../../ready-condition.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import type { BmcDnsFacts, BmcDnsPhase } from './facts.ts';

const type = 'DNSRecordApplied';

export function reportBmcDns(bmc: BMC, facts: BmcDnsFacts, outcome: Outcome<BmcDnsPhase>): StatusReport {
  return { fields: {}, conditions: appliedCondition(bmc, facts, outcome) };
}

/** No condition if records were never enabled. */
function appliedCondition(
  bmc: BMC,
  { isWanted, isApplied, rendered }: BmcDnsFacts,
  { decision }: Outcome<BmcDnsPhase>,
): ReportedCondition[] {
  if (!isWanted) {
    const wasReported = bmc.status?.conditions?.some((known) => known.type === type) === true;
    const message = 'no DNS record template is given; the record is left as it is';
    return wasReported ? [condition(bmc, type, 'False', { reason: 'RecordsSwitchedOff', message })] : [];
  }
  if (decision.kind !== 'wait') return [];
  if (!isApplied || rendered === undefined || rendered.problem !== undefined)
    return [condition(bmc, type, 'False', { reason: decision.reason ?? '', message: decision.message ?? '' })];
  const { kind, metadata } = rendered.record;
  return [condition(bmc, type, 'True', { reason: 'Applied', message: `${kind} ${metadata.name} is written` })];
}

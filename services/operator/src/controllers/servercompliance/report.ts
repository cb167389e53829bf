import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { firstOf } from '../../rollouts/plan-rollout.ts';
import { condition, type ReportedCondition } from '../ready-condition.ts';
import { type ComplianceFacts, compliantType, hasSets } from './facts.ts';
import type { complianceReasons } from './reasons.ts';

/** A server that no set selects has no condition, and costs no write. */
export const reportCompliance = (server: Server, facts: ComplianceFacts): StatusReport => ({
  fields: {},
  conditions: hasSets(facts) ? [conditionOf(server, facts)] : [],
});

function conditionOf(server: Server, { sets }: ComplianceFacts): ReportedCondition {
  const { deviating, unknown } = sets;
  // Without a generation: it depends on the updates, and the spec changes with every maintenance.
  const report = (status: ReportedCondition['status'], reason: keyof typeof complianceReasons) => {
    const { observedGeneration: _, ...reported } = condition(server, compliantType, status, {
      reason,
      message: messageOf(sets),
    });
    return reported;
  };
  if (deviating.length > 0) return report('False', 'SetsDeviate');
  return unknown.length > 0 ? report('Unknown', 'SetsNotCompared') : report('True', 'SetsComply');
}

function messageOf({ deviating, unknown, compliant }: ComplianceFacts['sets']): string {
  const parts = [
    deviating.length > 0 ? `does not comply with ${firstOf(deviating)}` : '',
    unknown.length > 0 ? `not compared with ${firstOf(unknown)} yet` : '',
    compliant.length > 0 ? `complies with ${firstOf(compliant)}` : '',
  ];
  return parts.filter((part) => part !== '').join('; ');
}

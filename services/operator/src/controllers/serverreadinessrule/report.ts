import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { type Explanation, readyCondition } from '../ready-condition.ts';
import type { RuleFacts, RulePhase } from './facts.ts';
import { firstOf } from './table.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import type { ruleReasons } from './reasons.ts';

/** Ready means that the rule works, not that its servers are ready; reason and message have their state. */
export function reportRule(rule: ServerReadinessRule, facts: RuleFacts, outcome: Outcome<RulePhase>): StatusReport {
  const inForce = outcome.decision.kind === 'rest' ? explanationOf(facts) : undefined;
  return { fields: {}, conditions: [readyCondition(rule, outcome, inForce)] };
}

function explanationOf({
  selected,
  heldBack,
  firstHeldBack,
}: RuleFacts): Explanation & { reason: keyof typeof ruleReasons } {
  if (selected === 0) return { reason: 'NoServerSelected', message: 'no server matches spec.serverSelector' };
  if (heldBack === 0) return { reason: 'AllServersReady', message: `${selected} servers selected, all of them ready` };
  const names = firstHeldBack.map(({ server, unmet }) => `${server} wants ${unmet}`);
  return {
    reason: 'ServersNotReady',
    message: `${selected} servers selected, ${heldBack} not ready: ${firstOf(names, heldBack)}`,
  };
}

import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { type Decision, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { mostNamed, type RuleFacts, type RulePhase } from './facts.ts';
import type { ruleReasons } from './reasons.ts';

type RuleReason = keyof typeof ruleReasons;

const row = rowsOf<RulePhase, RuleFacts, never, RuleReason>();

const resyncMs = minutes(60);

/** A rule only reports. The controller serverreadinesstaints writes its taints, server by server. */
export const ruleTable: PhaseTable<RulePhase, RuleFacts, never> = {
  InForce: row([], ({ selectorFault }) =>
    selectorFault === undefined
      ? rest
      : wait(resyncMs, 'InvalidSelector', `spec.serverSelector: ${selectorFault}; create the rule anew`),
  ),
};

/** The rule is removed when no server has its taint or annotations. */
export function decideDeletion({ uncleaned }: RuleFacts): Decision<RulePhase, never, RuleReason> {
  if (uncleaned.length === 0) return rest;
  return wait(seconds(30), 'RemovingTaints', `from ${uncleaned.length} servers: ${firstOf(uncleaned)}`);
}

/** The first names of a list that may be long; `count` is the total number. */
export const firstOf = (names: readonly string[], count = names.length): string =>
  count <= mostNamed ? names.join(', ') : `${names.slice(0, mostNamed).join(', ')}, …`;

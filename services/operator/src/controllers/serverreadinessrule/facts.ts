import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { OperatorContext } from '../context.ts';
import { selectorFault } from '@metal/api/common/label-selector.ts';
import { unmetCondition } from '../../readiness/readiness.ts';
import { byName } from '@metal/kube/runtime/sorted-names.ts';
import { taintPlanOf } from '../../readiness/taint-plan.ts';

/** Number of servers that a message names. */
export const mostNamed = 2;

export type RulePhase = 'InForce';

export interface RuleFacts {
  /** What is wrong with the selector; such a rule selects no server. */
  readonly selectorFault: string | undefined;
  readonly selected: number;
  readonly heldBack: number;
  /** The first of those by name, with the condition that is missing. */
  readonly firstHeldBack: readonly { readonly server: string; readonly unmet: string }[];
  /** While the rule is being deleted: servers that still have its taint or annotations. */
  readonly uncleaned: readonly string[];
}

export function readRuleFacts(rule: ServerReadinessRule, { caches, readiness }: OperatorContext): RuleFacts {
  const { selected, heldBack } = readiness.of(rule);
  const leaving = rule.metadata.deletionTimestamp !== undefined;
  return {
    selectorFault: selectorFault(rule.spec.serverSelector),
    selected,
    heldBack: heldBack.size,
    firstHeldBack: heldBack.first(mostNamed).map((name) => {
      const server = caches.servers.get(name);
      return { server: name, unmet: (server && unmetCondition(server, rule)) ?? '' };
    }),
    uncleaned: leaving ? findUncleaned(caches) : [],
  };
}

function findUncleaned({ servers, readinessRules }: OperatorContext['caches']): string[] {
  const rules = [...readinessRules.all()];
  return [...servers.all()]
    .filter((server) => server.metadata.deletionTimestamp === undefined && taintPlanOf(server, rules) !== undefined)
    .map(({ metadata }) => metadata.name)
    .toSorted(byName);
}

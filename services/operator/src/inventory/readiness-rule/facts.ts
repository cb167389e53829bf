import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { OperatorContext } from '../../context.ts';
import { selectorFault } from '../../label-selector.ts';
import { isHeldBack, isSubject, unmetCondition } from '../../readiness.ts';
import { byName } from '../../sorted-names.ts';
import { taintPlanOf } from '../readiness-taints/taint-plan.ts';

export type RulePhase = 'InForce';

export interface RuleFacts {
  /** What is wrong with the selector; such a rule speaks about no server. */
  readonly selectorFault: string | undefined;
  readonly selected: number;
  /** Servers that are held back, by name, with the condition that is missing. */
  readonly heldBack: readonly { readonly server: string; readonly unmet: string }[];
  /** While the rule is being deleted: servers that still carry something of it. */
  readonly uncleaned: readonly string[];
}

export function readRuleFacts(rule: ServerReadinessRule, { caches }: OperatorContext): RuleFacts {
  const servers = [...caches.servers.all()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const leaving = rule.metadata.deletionTimestamp !== undefined;
  return {
    selectorFault: selectorFault(rule.spec.serverSelector),
    selected: servers.filter((server) => isSubject(server, rule)).length,
    heldBack: servers
      .filter((server) => isHeldBack(server, rule))
      .map((server) => ({ server: server.metadata.name, unmet: unmetCondition(server, rule) ?? '' }))
      .toSorted((one, other) => byName(one.server, other.server)),
    uncleaned: leaving ? unsettled(servers, [...caches.readinessRules.all()]) : [],
  };
}

function unsettled(servers: readonly Server[], rules: readonly ServerReadinessRule[]): string[] {
  return servers
    .filter((server) => taintPlanOf(server, rules) !== undefined)
    .map(({ metadata }) => metadata.name)
    .toSorted(byName);
}

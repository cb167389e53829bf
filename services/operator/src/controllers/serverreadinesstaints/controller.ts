import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import type { OperatorContext } from '../context.ts';
import { taintsActions } from './actions.ts';
import { readTaintsFacts } from './facts.ts';
import { taintsTable } from './table.ts';
import { taintsReasons } from './reasons.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { taintPlanOf } from '../../readiness/taint-plan.ts';

export const readinessTaintsController = phaseController({
  name: 'serverreadinessruleserver',
  kind: Server,
  phaseOf: () => 'Watched',
  facts: readTaintsFacts,
  table: taintsTable,
  reasons: taintsReasons,
  actions: taintsActions,
  watches: [{ kind: ServerReadinessRule, mapToKeys: serversToChange, predicate: isSpecChanged }],
  writes: ['patch:servers'],
});

/** The status of a rule changes as often as servers do, and has no effect on them. */
function isSpecChanged(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  const versionOf = (rule: KubeObject | undefined) =>
    [rule?.metadata.generation, rule?.metadata.deletionTimestamp].join();
  return before === undefined || after === undefined || versionOf(before) !== versionOf(after);
}

/** The servers whose taints are wrong for the present rules. The rule before the change gives the same servers, so it is skipped. */
export function serversToChange(
  rule: ServerReadinessRule,
  { caches }: { readonly caches: Pick<OperatorContext['caches'], 'servers' | 'readinessRules'> },
): string[] {
  const current = caches.readinessRules.get(rule.metadata.name);
  if (current !== undefined && current !== rule) return [];
  const rules = [...caches.readinessRules.all()];
  return [...caches.servers.all()]
    .filter((server) => taintPlanOf(server, rules) !== undefined)
    .map(({ metadata }) => metadata.name);
}

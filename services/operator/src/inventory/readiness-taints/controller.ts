import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { phaseController } from '@metal/kube/controller.ts';
import type { OperatorContext } from '../../context.ts';
import { taintsActions } from './actions.ts';
import { readTaintsFacts } from './facts.ts';
import { taintsPhases } from './phases.ts';
import { taintsReasons } from './reasons.ts';
import { taintPlanOf } from './taint-plan.ts';

export const readinessTaintsController = phaseController({
  name: 'serverreadinessruleserver',
  kind: Server,
  phaseOf: () => 'Watched',
  facts: readTaintsFacts,
  table: taintsPhases,
  reasons: taintsReasons,
  actions: taintsActions,
  wokenBy: [{ kind: ServerReadinessRule, find: serversToChange }],
  writes: ['patch:servers'],
});

/** The servers that a changed set of rules leaves with the wrong taints. */
function serversToChange(_rule: ServerReadinessRule, { caches }: OperatorContext): string[] {
  const rules = [...caches.readinessRules.all()];
  return [...caches.servers.all()]
    .filter((server) => taintPlanOf(server, rules) !== undefined)
    .map(({ metadata }) => metadata.name);
}

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { OperatorContext } from '../context.ts';
import { type TaintPlan, taintPlanOf } from '../../readiness/taint-plan.ts';

export type TaintsPhase = 'Watched';
export type TaintsAction = 'writeTaints';

export interface TaintsFacts {
  /** The changes to write; undefined when the taints match the rules. */
  readonly plan: TaintPlan | undefined;
}

export function readTaintsFacts(server: Server, { caches }: OperatorContext): TaintsFacts {
  return { plan: taintPlanOf(server, [...caches.readinessRules.all()]) };
}

import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { condition, conditionsOf, type Explanation, type ReportedCondition } from './ready-condition.ts';

/**
 * A condition about a problem that most objects never have: False while there is a problem, True once it is solved, and absent
 * from objects that never had it.
 */
export function problemCondition(
  object: KubeObject,
  type: string,
  problem: Explanation | undefined,
  solved: Explanation,
): ReportedCondition[] {
  if (problem !== undefined) return [condition(object, type, 'False', problem)];
  return isReported(object, type) ? [condition(object, type, 'True', solved)] : [];
}

/** The status has a condition of this type. */
export const isReported = (object: KubeObject, type: string): boolean =>
  conditionsOf(object).some((reported) => reported.type === type);

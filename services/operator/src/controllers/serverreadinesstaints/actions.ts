import { Server } from '@metal/api/v1alpha1/server.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { OperatorContext } from '../context.ts';
import type { TaintsAction, TaintsFacts } from './facts.ts';

type TaintsReconcile = Reconcile<Server, TaintsFacts, OperatorContext>;

export const taintsActions: Record<TaintsAction, (reconcile: TaintsReconcile) => Promise<void>> = { writeTaints };

/** Guarded by the resource version of the decision: a taint that another client writes at the same time is not lost. */
async function writeTaints(reconcile: TaintsReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  if (facts.plan === undefined) return;
  const { taints, annotations, changes } = facts.plan;
  const { name, resourceVersion } = object.metadata;
  const patch = { metadata: { annotations }, spec: { taints: taints.length === 0 ? null : taints } };
  await context.client.mergePatch(Server, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
  if (changes.length > 0) reconcile.warn('ReadinessChanged', changes.join('; '));
}

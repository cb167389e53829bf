import { Server } from '@metal/api/v1alpha1/server.ts';
import type { Turn } from '@metal/kube/controller.ts';
import type { OperatorContext } from '../../context.ts';
import type { TaintsAction, TaintsFacts } from './facts.ts';

type TaintsTurn = Turn<Server, TaintsFacts, OperatorContext>;

export const taintsActions: Record<TaintsAction, (turn: TaintsTurn) => Promise<void>> = { writeTaints };

/** Guarded by the version that was judged: a taint that somebody else writes at the same moment is not lost. */
async function writeTaints(turn: TaintsTurn): Promise<void> {
  const { object, facts, context } = turn;
  if (facts.plan === undefined) return;
  const { taints, annotations, changes } = facts.plan;
  const { name, resourceVersion } = object.metadata;
  const patch = { metadata: { annotations }, spec: { taints: taints.length === 0 ? null : taints } };
  await context.client.mergePatch(Server, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
  if (changes.length > 0) turn.warn('ReadinessChanged', changes.join('; '));
}

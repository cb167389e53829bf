import { Server } from '@metal/api/v1alpha1/server.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { OperatorContext } from '../context.ts';
import { conditionsOf } from '../ready-condition.ts';
import { type ComplianceAction, type ComplianceFacts, compliantType } from './facts.ts';

type ComplianceReconcile = Reconcile<Server, ComplianceFacts, OperatorContext>;

export const complianceActions: Record<ComplianceAction, (reconcile: ComplianceReconcile) => Promise<void>> = {
  removeCondition,
};

/** Guarded: the position of the condition is that of the version that was decided on. */
async function removeCondition({ object, context }: ComplianceReconcile): Promise<void> {
  const { name, resourceVersion } = object.metadata;
  const index = conditionsOf(object).findIndex(({ type }) => type === compliantType);
  if (index < 0) return;
  const operations = [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'remove', path: `/status/conditions/${index}` },
  ] as const;
  await context.client.jsonPatch(Server, { name }, operations, { subresource: 'status' });
}

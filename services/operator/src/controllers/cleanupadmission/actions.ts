import { Server } from '@metal/api/v1alpha1/server.ts';
import { cleanupAdmittedAnnotation } from '@metal/api/wire/contract.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { OperatorContext } from '../context.ts';
import { admissionOf } from '../../cleanup/cleanup-queue.ts';
import { isAdmissible, queueFacts } from '../../cleanup/queue-position.ts';
import type { AdmissionAction, AdmissionFacts } from './facts.ts';

type AdmissionReconcile = Reconcile<Server, AdmissionFacts, OperatorContext>;

export const admissionActions: Record<AdmissionAction, (reconcile: AdmissionReconcile) => Promise<void>> = { admit };

/**
 * The slot is reserved before the write, so that no other reconcile takes it meanwhile. Guarded by the resource version of the
 * decision: a server that has left the queue is not admitted.
 */
async function admit({ object, context }: AdmissionReconcile): Promise<void> {
  if (!isAdmissible(queueFacts(object, context, context.clock.now()))) return;
  const { name, resourceVersion } = object.metadata;
  const patch = { metadata: { annotations: { [cleanupAdmittedAnnotation]: admissionOf(object) } } };
  context.cleanupQueue.reserve(object);
  try {
    await context.client.mergePatch(Server, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
  } finally {
    context.cleanupQueue.release(object);
  }
}

import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { OperatorContext } from '../context.ts';
import { convertedKeysAnnotation } from '../../bmc-connections/bmc-secret-conversion.ts';
import type { BmcSecretAction, BmcSecretFacts, BmcSecretMemory } from './facts.ts';

type SecretReconcile = Reconcile<BMCSecret, BmcSecretFacts, OperatorContext, BmcSecretMemory>;

export const bmcSecretActions: Record<BmcSecretAction, (reconcile: SecretReconcile) => Promise<void>> = {
  convert,
  recordProblemEvent,
};

/** One guarded write, so that no reader finds a key in neither place. */
async function convert({ object, facts, context }: SecretReconcile): Promise<void> {
  const { data, keys, converted, ambiguous } = facts.conversion;
  const { name, resourceVersion } = object.metadata;
  const stringData = ambiguous.length === 0 ? null : Object.fromEntries(keys.map((key) => [key, null]));
  const annotations = { [convertedKeysAnnotation]: converted.join(',') };
  const patch = { metadata: { annotations }, data, stringData };
  await context.client.mergePatch(BMCSecret, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
}

async function recordProblemEvent(reconcile: SecretReconcile): Promise<void> {
  const { problem } = reconcile.facts;
  if (problem === undefined) return;
  reconcile.warn(problem.reason, problem.message);
  reconcile.memory.reportedMessage = problem.message;
  await Promise.resolve();
}

import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { Turn } from '@metal/kube/controller.ts';
import type { OperatorContext } from '../../context.ts';
import { convertedKeysAnnotation } from '../../bmc-secret-conversion.ts';
import type { BmcSecretAction, BmcSecretFacts } from './facts.ts';

type SecretTurn = Turn<BMCSecret, BmcSecretFacts, OperatorContext>;

export const bmcSecretActions: Record<BmcSecretAction, (turn: SecretTurn) => Promise<void>> = { convert, complain };

/** One guarded write: nobody ever sees a BMCSecret that has a key in neither place. */
async function convert({ object, facts, context }: SecretTurn): Promise<void> {
  const { data, keys, converted, ambiguous } = facts.conversion;
  const { name, resourceVersion } = object.metadata;
  const stringData = ambiguous.length === 0 ? null : Object.fromEntries(keys.map((key) => [key, null]));
  const annotations = { [convertedKeysAnnotation]: converted.join(',') };
  const patch = { metadata: { annotations }, data, stringData };
  await context.client.mergePatch(BMCSecret, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
}

async function complain(turn: SecretTurn): Promise<void> {
  const { object, context } = turn;
  const { complaint } = turn.facts;
  if (complaint === undefined) return;
  turn.warn(complaint.reason, complaint.message);
  context.notices.tell(object.metadata.uid ?? '', complaint.message);
  await Promise.resolve();
}

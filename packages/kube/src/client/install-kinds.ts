import { fieldManagerOf } from './field-managers.ts';
import {
  CustomResourceDefinition,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../kinds/builtin.ts';
import type { KubeClient } from './client.ts';
import { toCustomResourceDefinition } from '../kinds/crd.ts';
import type { DefinedKind } from '../kinds/define-kind.ts';
import type { AdmissionRule } from '../kinds/admission.ts';
import { toAdmissionObjects } from '../kinds/admission.ts';
import { KubeError } from '../errors.ts';

const watchSeconds = 30;

/**
 * Creates missing CustomResourceDefinitions and waits until all are established.
 * @throws KubeError Timeout, with the names of those that are not.
 */
export async function installKinds(client: KubeClient, kinds: readonly DefinedKind[]): Promise<void> {
  await allSettled(kinds.map((kind) => createUnlessPresent(client, kind)));
  await waitUntilEstablished(client, kinds);
}

/** @throws KubeError Timeout, with the names of those that are not. */
export async function waitUntilEstablished(client: KubeClient, kinds: readonly DefinedKind[]): Promise<void> {
  const waiting = new Set(kinds.map(({ plural, group }) => `${plural}.${group}`));
  const { items, resourceVersion } = await client.list(CustomResourceDefinition);
  const note = (definition: CustomResourceDefinition) =>
    isEstablished(definition) && waiting.delete(definition.metadata.name);
  items.forEach(note);
  if (waiting.size === 0) return;
  for await (const event of client.watch(CustomResourceDefinition, { resourceVersion, timeoutSeconds: watchSeconds })) {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') note(event.object);
    if (waiting.size === 0) return;
  }
  throw new KubeError({
    code: 'Timeout',
    message: `not established within ${watchSeconds} s: ${[...waiting].join(', ')}; see their conditions`,
  });
}

async function createUnlessPresent(client: KubeClient, kind: DefinedKind): Promise<void> {
  try {
    await client.create(CustomResourceDefinition, toCustomResourceDefinition(kind));
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
  }
}

const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some(({ type, status: holds }) => type === 'Established' && holds === 'True') ?? false;

/**
 * Creates or updates the rules. The API server takes a second or two to enforce them. Their kinds must be installed
 * already.
 */
export async function installAdmissionRules(client: KubeClient, rules: readonly AdmissionRule[]): Promise<void> {
  const options = { fieldManager: fieldManagerOf('install'), force: true };
  await allSettled(
    rules
      .map(toAdmissionObjects)
      .flatMap(([policy, binding]) => [
        client.apply(ValidatingAdmissionPolicy, { ...policy, metadata: { name: policy.metadata.name ?? '' } }, options),
        client.apply(
          ValidatingAdmissionPolicyBinding,
          { ...binding, metadata: { name: binding.metadata.name ?? '' } },
          options,
        ),
      ]),
  );
}

/** Like `Promise.all`, but rejects only when no write is under way: nothing arrives after a removal that follows the failure. */
async function allSettled(writes: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(writes);
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

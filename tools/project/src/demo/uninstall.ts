import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import {
  CustomResourceDefinition,
  Event,
  Namespace,
  Secret,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@metal/kube/kinds/builtin.ts';
import type { Kind, ObjectRef } from '@metal/kube/kinds/kind.ts';
import { DemoFailed } from './demo-failed.ts';
import { definitionOf, eventsAbout, type InstallPlan, demoNamespace } from './install-plan.ts';

const withinMs = 90_000;
const pollIntervalMs = 500;

/**
 * Removes everything that the plan has made. The operator has ended: finalizers are removed with the objects, whose machines were
 * simulated.
 * @throws DemoFailed with what is left after a while.
 */
export async function uninstall(client: KubeClient, plan: InstallPlan): Promise<void> {
  const deadline = performance.now() + withinMs;
  const names = plan.missingRules.map(({ name }) => ({ name }));
  // First: they would reject the deletion of objects in use.
  await repeat(deadline, async () => [
    ...(await remove(client, ValidatingAdmissionPolicyBinding, names)),
    ...(await remove(client, ValidatingAdmissionPolicy, names)),
  ]);
  await repeat(deadline, () => removeObjects(client, plan));
  const definitions = plan.missingKinds.map((kind) => ({ name: definitionOf(kind) }));
  // The namespace first: its removal lists the objects of all kinds.
  await repeat(deadline, () => remove(client, Namespace, [{ name: demoNamespace }]));
  await repeat(deadline, () => remove(client, CustomResourceDefinition, definitions));
  const events = (await eventsAbout(client, plan.kinds)).filter(
    ({ metadata }) => !plan.earlierEvents.has(metadata.uid ?? ''),
  );
  await remove(
    client,
    Event,
    events.map(({ metadata }) => metadata),
  );
}

/** Until nothing is left. */
async function repeat(deadline: number, attempt: () => Promise<string[]>): Promise<void> {
  for (;;) {
    const left = await attempt().catch(asLeft);
    if (left.length === 0) return;
    if (performance.now() > deadline)
      throw new DemoFailed(
        `not removed within ${withinMs / 1_000} s: ${left.join(', ')}; see their status, and remove them with kubectl delete`,
      );
    await sleep(pollIntervalMs);
  }
}

/** Deletes objects that are there; returns their names. */
async function remove(client: KubeClient, kind: Kind, refs: readonly ObjectRef[]): Promise<string[]> {
  const found = await Promise.all(refs.map((ref) => client.find(kind, ref)));
  const present = found.filter((object) => object !== undefined);
  const waiting = present.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  await Promise.all(waiting.map(({ metadata }) => client.delete(kind, metadata)));
  return present.map(({ metadata }) => `${kind.singular}/${metadata.name}`);
}

/** Those of the kinds, and Secrets of the namespace: hosts of Metal3 put finalizers on them. */
async function removeObjects(client: KubeClient, { kinds }: InstallPlan): Promise<string[]> {
  const left: string[] = [];
  for (const kind of kinds) left.push(...(await removeAll(client, kind)));
  return [...left, ...(await removeAll(client, Secret, demoNamespace))];
}

async function removeAll(client: KubeClient, kind: Kind, namespace?: string): Promise<string[]> {
  const { items } = await client.list(kind, namespace === undefined ? {} : { namespace }).catch(withoutKind);
  await Promise.all(
    items.map(async ({ metadata }) => {
      if ((metadata.finalizers ?? []).length > 0)
        await client.mergePatch(kind, metadata, { metadata: { finalizers: null } }).catch(untilNextAttempt);
      await client.delete(kind, metadata, { uid: metadata.uid }).catch(untilNextAttempt);
    }),
  );
  return items.map(({ metadata }) => `${kind.singular}/${metadata.name}`);
}

/** The API server is busy or gone for a while: there may be something left. */
function asLeft(error: unknown): string[] {
  if (error instanceof KubeError) return [error.message];
  throw error;
}

/** The kind was not installed, or is removed. */
function withoutKind(error: unknown): { items: [] } {
  if (error instanceof KubeError && error.code === 'NotFound') return { items: [] };
  throw error;
}

/** The object is gone, or a policy that is being removed still rejects: the next attempt lists what is left. */
function untilNextAttempt(error: unknown): void {
  if (!(error instanceof KubeError)) throw error;
}

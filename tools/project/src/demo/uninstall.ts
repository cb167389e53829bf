import { setTimeout as sleep } from 'node:timers/promises';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
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
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import { DemoFailed } from './demo-failed.ts';
import { definitionOf } from './install-plan.ts';
import { demoFieldManager, demoNamespace, demoSelector, type Found, isMarked, nameOf, separate } from './ownership.ts';

const withinMs = 90_000;
const pollIntervalMs = 500;

/**
 * Removes what a demo has made, and nothing else. Its operator has ended: finalizers are removed with the objects, whose machines
 * were simulated. Kinds and policies stay if there are objects that no demo has made.
 * @throws DemoFailed with what stays or is left after a while.
 */
export async function uninstall(client: KubeClient, kinds: readonly DefinedKind[]): Promise<void> {
  const deadline = performance.now() + withinMs;
  const { since, before, adopted } = await readCluster(client, kinds, deadline);
  const problems: string[] = [];
  const stage = (attempt: () => Promise<string[]>) =>
    repeat(deadline, attempt).catch((error: unknown) => void problems.push(messageOf(error)));
  if (before.foreign.length + adopted.length === 0)
    // First: they would reject the deletion of objects in use.
    await stage(async () => [
      ...(await removeMarked(client, ValidatingAdmissionPolicyBinding)),
      ...(await removeMarked(client, ValidatingAdmissionPolicy)),
    ]);
  await stage(() => removeObjects(client, kinds, before.own));
  // Before the kinds: its removal lists the objects of all kinds.
  await stage(() => removeMarked(client, Namespace));
  const left = await objectsOf(client, kinds).catch((error: unknown) => void problems.push(messageOf(error)));
  if (left?.length === 0 && adopted.length === 0) await stage(() => removeMarked(client, CustomResourceDefinition));
  else if (left !== undefined) problems.push(whatStays([...left.map(nameOf), ...adopted]));
  await stage(() => removeEvents(client, kinds, since, before.foreign));
  if (problems.length > 0) throw new DemoFailed(problems.join('\n'));
}

/** What decides about the removal. Repeated while the API server fails: without it nothing may be removed. */
async function readCluster(client: KubeClient, kinds: readonly DefinedKind[], deadline: number) {
  for (;;) {
    try {
      const since = await startOfDemo(client);
      const before = separate(await objectsOf(client, kinds));
      return { since, before, adopted: await adoptedDefinitions(client) };
    } catch (error) {
      if (performance.now() > deadline)
        throw new DemoFailed(
          `the cluster could not be read within ${withinMs / 1_000} s, nothing is removed: ${messageOf(error)}; repeat the command with --remove`,
        );
      await sleep(pollIntervalMs);
    }
  }
}

function whatStays(left: readonly string[]): string {
  const names = left.join(', ');
  return [
    `expected only objects of the demo in the cluster, found ${names}; they stay as they are, and so do the kinds, and the policies unless they are removed already. When these objects are gone, or may go:`,
    `  kubectl delete validatingadmissionpolicybindings,validatingadmissionpolicies -l ${demoSelector}`,
    `  kubectl delete customresourcedefinitions -l ${demoSelector}   # also deletes all objects of these kinds`,
  ].join('\n');
}

/** Definitions that another client has applied while the demo ran: another installation uses them now. */
async function adoptedDefinitions(client: KubeClient): Promise<string[]> {
  const { items } = await client.list(CustomResourceDefinition, { labelSelector: demoSelector });
  const adopted = items.filter(({ metadata: { deletionTimestamp, managedFields = [] } }) =>
    managedFields.some(
      ({ manager, subresource }) =>
        deletionTimestamp === undefined && subresource === undefined && manager !== demoFieldManager,
    ),
  );
  return adopted.map((object) => nameOf({ kind: CustomResourceDefinition, object }));
}

/** When its namespace was created, by the clock of the cluster. Undefined: it is gone. */
async function startOfDemo(client: KubeClient): Promise<string | undefined> {
  const { items } = await client.list(Namespace, { labelSelector: demoSelector });
  return items[0]?.metadata.creationTimestamp;
}

/** @throws KubeError if one of the kinds cannot be listed: then nothing may be removed. */
async function objectsOf(client: KubeClient, kinds: readonly DefinedKind[]): Promise<Found[]> {
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const { items } = await client.list(kind).catch(withoutKind);
      return items.map((object: KubeObject) => ({ kind, object }));
    }),
  );
  return lists.flat();
}

/** Until nothing is left. */
async function repeat(deadline: number, attempt: () => Promise<string[]>): Promise<void> {
  for (;;) {
    const left = await attempt().catch(asLeft);
    if (left.length === 0) return;
    if (performance.now() > deadline)
      throw new DemoFailed(
        `not removed within ${withinMs / 1_000} s: ${left.join(', ')}; see their status, then repeat the command with --remove`,
      );
    await sleep(pollIntervalMs);
  }
}

/** Those with the label of the demo; returns their names. */
async function removeMarked(client: KubeClient, kind: Kind): Promise<string[]> {
  const { items } = await client.list(kind, { labelSelector: demoSelector });
  const present = items.filter(isMarked);
  const waiting = present.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  await Promise.all(waiting.map(({ metadata }) => client.delete(kind, metadata, { uid: metadata.uid })));
  return present.map((object) => nameOf({ kind, object }));
}

/** Also Secrets of the namespace: hosts of Metal3 put finalizers on them. */
async function removeObjects(client: KubeClient, kinds: readonly DefinedKind[], own: readonly Found[]) {
  const uids = new Set(own.map(({ object }) => object.metadata.uid));
  const present = (await objectsOf(client, kinds)).filter(
    ({ object }) => uids.has(object.metadata.uid) || isMarked(object),
  );
  const { items } = await client.list(Secret, { namespace: demoNamespace });
  // Of another namespace with this name, if the demo could not create its own.
  const isOwnNamespace = (await startOfDemo(client)) !== undefined;
  const secrets = isOwnNamespace ? items.map((object: KubeObject) => ({ kind: Secret, object })) : [];
  const all: Found[] = [...present, ...secrets];
  await Promise.all(all.map((found) => removeObject(client, found)));
  return all.map(nameOf);
}

async function removeObject(client: KubeClient, { kind, object: { metadata } }: Found): Promise<void> {
  const { uid } = metadata;
  if ((metadata.finalizers ?? []).length > 0) {
    const annotations = { [operationAnnotation]: operations.allowInProgressDelete };
    // With the UID, the patch of another object of this name is a conflict.
    const patch = { metadata: { uid, finalizers: null, annotations } };
    await client.mergePatch(kind, metadata, patch).catch(untilNextAttempt);
  }
  await client.delete(kind, metadata, { uid }).catch(untilNextAttempt);
}

async function removeEvents(
  client: KubeClient,
  kinds: readonly DefinedKind[],
  since: string | undefined,
  foreign: readonly Found[],
): Promise<string[]> {
  if (since === undefined) return [];
  const groups = new Set(kinds.map(({ group }) => group));
  const foreignUids = new Set(foreign.map(({ object }) => object.metadata.uid));
  const { items } = await client.list(Event);
  const own = items.filter(
    ({ regarding, metadata }) =>
      groups.has(regarding.apiVersion.split('/')[0] ?? '') &&
      !foreignUids.has(regarding.uid) &&
      (metadata.creationTimestamp ?? '') >= since,
  );
  await Promise.all(own.map(({ metadata }) => client.delete(Event, metadata, { uid: metadata.uid })));
  return [];
}

/** Those of the kinds that a demo has installed. */
export async function installedByDemo(client: KubeClient, kinds: readonly DefinedKind[]): Promise<DefinedKind[]> {
  const { items } = await client.list(CustomResourceDefinition, { labelSelector: demoSelector });
  const names = new Set(items.map(({ metadata }) => metadata.name));
  return kinds.filter((kind) => names.has(definitionOf(kind)));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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

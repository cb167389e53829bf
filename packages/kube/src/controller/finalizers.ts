import type { KubeClient } from '../client/client.ts';
import type { JsonPatchOperation } from '../client/call.ts';
import type { Kind, KubeObject } from '../kinds/kind.ts';

export const hasFinalizer = ({ metadata }: KubeObject, finalizer: string): boolean =>
  metadata.finalizers?.includes(finalizer) ?? false;

/** Adds a finalizer and keeps the others. Rejects with Conflict if the list changed meanwhile. */
export async function addFinalizer<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  const present = object.metadata.finalizers;
  const operations: JsonPatchOperation[] =
    present === undefined || present.length === 0
      ? [versionTest(object), { op: 'add', path: '/metadata/finalizers', value: [finalizer] }]
      : [
          { op: 'test', path: '/metadata/finalizers', value: present },
          { op: 'add', path: '/metadata/finalizers/-', value: finalizer },
        ];
  return client.jsonPatch(kind, object.metadata, operations);
}

/** Removes this finalizer only; the test makes a race fail instead of removing another one. */
export async function removeFinalizer<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  const index = object.metadata.finalizers?.indexOf(finalizer) ?? -1;
  if (index < 0) return;
  const path = `/metadata/finalizers/${index}`;
  await client.jsonPatch(kind, object.metadata, [
    { op: 'test', path, value: finalizer },
    { op: 'remove', path },
  ]);
}

const versionTest = ({ metadata }: KubeObject): JsonPatchOperation => ({
  op: 'test',
  path: '/metadata/resourceVersion',
  value: metadata.resourceVersion,
});

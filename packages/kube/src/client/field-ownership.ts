import { isConflict, isNotFound, KubeError } from '../errors.ts';
import type { Kind, KubeObject, ObjectMeta, ObjectRef } from '../kinds/kind.ts';
import type { KubeClient } from './client.ts';
import type { WriteOptions } from './options.ts';

/** Fields to apply, with the version that guards the write. */
type AppliedFields = { metadata: ObjectRef & Partial<ObjectMeta>; [field: string]: unknown };

/**
 * Applies fields that the caller owns alone. Fields that another manager owns with other values are taken from it: objects that
 * v0.7.0 wrote carry them under its manager. `onTaken` gets the names of these managers.
 */
export async function applyOwned<T extends KubeObject>(
  client: Pick<KubeClient, 'apply'>,
  kind: Kind<T>,
  fields: AppliedFields,
  options: WriteOptions & { readonly fieldManager: string },
  onTaken: (managers: readonly string[]) => void,
): Promise<T> {
  try {
    return await client.apply(kind, fields, options);
  } catch (error) {
    if (!(error instanceof KubeError) || error.conflictingManagers.length === 0) throw error;
    onTaken(error.conflictingManagers);
    return client.apply(kind, fields, { ...options, force: true });
  }
}

/**
 * Removes the entries of retired field managers from the status of an object, as a write returned it. A field that a retired
 * manager co-owns could not be removed by its present owner. Another write meanwhile leaves them for the next time.
 */
export async function dropRetiredManagers<T extends KubeObject>(
  client: Pick<KubeClient, 'jsonPatch'>,
  kind: Kind<T>,
  object: T,
  retired: readonly string[],
): Promise<T> {
  const { managedFields = [] } = object.metadata;
  const kept = managedFields.filter(
    ({ manager, subresource }) => subresource !== 'status' || !retired.includes(manager),
  );
  if (kept.length === managedFields.length) return object;
  const { name, namespace, resourceVersion } = object.metadata;
  try {
    return await client.jsonPatch(kind, { name, namespace }, [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'replace', path: '/metadata/managedFields', value: kept },
    ]);
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return object;
    throw error;
  }
}

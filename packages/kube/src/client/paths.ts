import { KubeError } from '../errors.ts';
import type { Kind, ObjectRef } from '../kinds/kind.ts';

/** Path of a kind's collection; without a namespace, of all namespaces. */
export function collectionOf(kind: Kind, namespace: string | undefined): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  if (kind.scope === 'Cluster' || namespace === undefined) return `${root}/${kind.plural}`;
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${kind.plural}`;
}

/**
 * Path of one object or its subresource.
 * @throws KubeError NotFound for names that no object can have: an empty one would mean the whole collection, and for the
 * API server a slash, even an encoded one, precedes a subresource.
 */
export function pathOf(kind: Kind, ref: ObjectRef, subresource?: string): string {
  if (ref.name === '' || ![ref.name, ref.namespace ?? ''].every(isSegment))
    throw new KubeError({ code: 'NotFound', status: 404, message: `no ${kind.kind} can have the name "${ref.name}"` });
  return `${collectionOf(kind, ref.namespace)}/${encodeURIComponent(ref.name)}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** What the API server accepts as a path segment. */
const isSegment = (name: string): boolean => name !== '.' && name !== '..' && !/[/%]/.test(name);

/** Query string of the defined parameters. */
export function query(parameters: Record<string, string | undefined>): string {
  const present = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return present.length === 0 ? '' : `?${new URLSearchParams(present).toString()}`;
}

/** Selectors of a list or a watch. */
export const selectors = ({
  labelSelector,
  fieldSelector,
}: {
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}) => ({ labelSelector, fieldSelector });

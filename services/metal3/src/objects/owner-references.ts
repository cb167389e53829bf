import type { KubeObject, OwnerReference } from '@metal/kube/kinds/kind.ts';

/** A reference without `controller`: the object may have another controller. */
export function plainOwner({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
}

/** Former versions of Metal3 made the host the controller of its Secret; only one host could use it then. */
export const isOwnedBy = ({ metadata }: KubeObject, owner: KubeObject): boolean =>
  metadata.ownerReferences?.some(({ uid, controller }) => uid === owner.metadata.uid && controller !== true) ?? false;

/** The references with a plain one to the owner, instead of any other to it. */
export const withOwner = (references: readonly OwnerReference[], owner: KubeObject): OwnerReference[] => [
  ...references.filter(({ uid }) => uid !== owner.metadata.uid),
  plainOwner(owner),
];

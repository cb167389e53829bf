import { isDeepStrictEqual } from 'node:util';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Metal3Context } from '../../context.ts';

/** The status is the controller's own, and labels are for others. */
export function isRelevantChange(before: BareMetalHost | undefined, after: BareMetalHost | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  const [old, now] = [before.metadata, after.metadata];
  return (
    old.uid !== now.uid ||
    old.generation !== now.generation ||
    old.deletionTimestamp !== now.deletionTimestamp ||
    !isDeepStrictEqual(old.finalizers, now.finalizers) ||
    !isDeepStrictEqual(old.annotations, now.annotations)
  );
}

/** The hosts that own the Secret, and those that name it: one may own it not yet. */
export function hostsOfSecret(secret: KubeObject, { caches }: Metal3Context): Set<string> {
  const { namespace, ownerReferences = [] } = secret.metadata;
  const owners = ownerReferences.filter(({ kind }) => kind === 'BareMetalHost');
  return new Set([
    ...owners.map(({ name }) => keyOf({ namespace, name })),
    ...caches.hosts.by('secret', keyOf(secret)).map(keyOf),
  ]);
}

/** An object has the name of its host. */
export const hostNamed = ({ metadata }: KubeObject): string[] => [keyOf(metadata)];

/** What the host itself wrote, such as its owner references, is no news. */
export function concernsHost(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  return (
    before === undefined ||
    after === undefined ||
    before.metadata.generation !== after.metadata.generation ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    !isDeepStrictEqual(statusOf(before), statusOf(after))
  );
}

const statusOf = (object: KubeObject): unknown => ('status' in object ? object.status : undefined);

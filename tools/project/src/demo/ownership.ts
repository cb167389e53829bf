import { createdForHostAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { BIOSAttributeRegistry } from '@metal/api/v1alpha1/bios-attribute-registry.ts';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { MACAddressIndex } from '@metal/api/v1alpha1/mac-address-index.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';

/** Of claims, hosts, secrets and the operator of a demo in an existing cluster. */
export const demoNamespace = 'metal-demo';

/** Of everything that the demo itself creates. What its operator creates has owners, or is in the namespace. */
export const demoLabels = { 'app.kubernetes.io/managed-by': 'metal-demo' } as const;
export const demoSelector = 'app.kubernetes.io/managed-by=metal-demo';

export const demoFieldManager = 'demo';

export interface Found {
  readonly kind: Kind;
  readonly object: KubeObject;
}

/** Made by an operator, without an owner. They are the demo's unless the cluster has objects that are not. */
const records: ReadonlySet<string> = new Set([BIOSAttributeRegistry.kind, ErasureReport.kind, MACAddressIndex.kind]);

export const isRecord = ({ kind }: Found): boolean => records.has(kind.kind);

/** Without regard to owners. */
export const isMarked = ({ metadata }: KubeObject): boolean =>
  metadata.namespace === demoNamespace ||
  // The BMC of a host, and its secret: an object without a namespace cannot have the host as its owner.
  metadata.annotations?.[createdForHostAnnotation]?.startsWith(`${demoNamespace}/`) === true ||
  Object.entries(demoLabels).every(([name, value]) => metadata.labels?.[name] === value);

/** Nothing of a demo: neither its label nor its namespace nor an owner. */
export const isForeignRoot = (object: KubeObject): boolean =>
  !isMarked(object) && (object.metadata.ownerReferences ?? []).length === 0;

/** Splits into what a demo has made and what it has not; every owner of a demo's object is a demo's, too. */
export function separate(all: readonly Found[]): { own: Found[]; foreign: Found[] } {
  const ownUids = new Set<string>();
  const isOwn = ({ object }: Found) => {
    const owners = object.metadata.ownerReferences ?? [];
    return isMarked(object) || (owners.length > 0 && owners.every(({ uid }) => ownUids.has(uid)));
  };
  for (let before = -1; before < ownUids.size; ) {
    before = ownUids.size;
    for (const found of all) if (isOwn(found)) ownUids.add(found.object.metadata.uid ?? '');
  }
  const others = all.filter(({ object }) => !ownUids.has(object.metadata.uid ?? ''));
  const isForeign = others.some((found) => !isRecord(found));
  const foreign = isForeign ? others : [];
  return { own: all.filter((found) => !foreign.includes(found)), foreign };
}

export const nameOf = ({ kind, object: { metadata } }: Found): string =>
  `${kind.singular}/${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;

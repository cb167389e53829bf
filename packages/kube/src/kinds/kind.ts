/** Shapes of every Kubernetes object, and `Kind`, the handle of a kind in code. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean | undefined;
  blockOwnerDeletion?: boolean | undefined;
}

/** metav1.ManagedFieldsEntry: fields of one field manager. */
export interface ManagedFields {
  readonly manager: string;
  readonly subresource?: string;
  /** Nested objects whose leaves are fields, named `f:<name>`, or `k:<key>` in lists. */
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

export interface ObjectMeta {
  name: string;
  namespace?: string | undefined;
  generateName?: string | undefined;
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  generation?: number | undefined;
  creationTimestamp?: string | undefined;
  deletionTimestamp?: string | undefined;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
  finalizers?: string[] | undefined;
  ownerReferences?: OwnerReference[] | undefined;
  /** In responses only: caches drop it. */
  managedFields?: readonly ManagedFields[] | undefined;
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** metav1.Condition. `lastTransitionTime` moves only when `status` changes. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number | undefined;
}

/** A kind, for client and caches. `objectType` exists only for the compiler. */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  /** `v1` for the core group, else `group/version`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Cluster' | 'Namespaced';
  /** Its requests never wait behind those of other kinds. */
  readonly isUrgent?: boolean;
  readonly objectType?: T;
}

export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

export interface ObjectRef {
  name: string;
  namespace?: string | undefined;
}

/** `name` for cluster-scoped objects, `namespace/name` for the others. */
export function keyOf(subject: ObjectRef | { metadata: ObjectMeta }): string {
  const { name, namespace } = 'metadata' in subject ? subject.metadata : subject;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** The inverse of `keyOf`. */
export function refOf(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** A controller owner reference to the object, for garbage collection and `kubectl tree`. */
export function ownedBy(owner: KubeObject): OwnerReference {
  const { name, uid } = owner.metadata;
  if (uid === undefined)
    throw new TypeError(`ownedBy: ${owner.kind} ${name} has no uid; pass an object read from the API`);
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The owner reference with `controller: true`, if any. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

/** Older objects first; by name if they were created in the same second. */
export function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const [first, second] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  if (first !== second) return first < second ? -1 : 1;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}

/** An object to create: the client adds apiVersion and kind. */
export type NewObject<T extends KubeObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata' | 'status'> & {
  metadata: Partial<ObjectMeta>;
};

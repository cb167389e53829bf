import type { Kind, KubeObject, ObjectRef } from '../kinds/kind.ts';

/** Receives the writes of this process, so that caches show them before the watch delivers them. */
export interface OwnWriteObserver {
  /** A write returned the object. */
  wrote(kind: Kind, object: KubeObject): void;
  /** The object with this UID no longer exists. */
  deleted(kind: Kind, ref: ObjectRef, uid: string): void;
}

/** Response to a deletion: the object if finalizers keep it, else a Status with its UID. */
export interface Deletion extends KubeObject {
  details?: { uid?: string };
}

import type { ListOptions } from './options.ts';
import type { KubeObject } from '../kinds/kind.ts';

/** Options of one watch request. */
export interface WatchOptions extends Omit<ListOptions, 'pageSize'> {
  /** Version to continue from. Undefined: the watch begins with all objects, up to an event that `endsList`. */
  readonly resourceVersion: string | undefined;
  readonly timeoutSeconds: number;
}

/** Change of an object. */
export interface ObjectEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

export type WatchEvent<T> =
  | ObjectEvent<T>
  | { readonly type: 'ERROR'; readonly object: { code?: number; message?: string } };

/** Parameters of a streamed list. API servers before 1.27 reject them, later ones where WatchList is disabled. */
export const initialEvents = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };

/** True for the bookmark after the last object that existed when the watch began. */
export const endsList = (event: ObjectEvent<KubeObject>): boolean =>
  event.type === 'BOOKMARK' && event.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';

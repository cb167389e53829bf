import type { Dispatcher } from 'undici';
import type { PoolName } from './connections.ts';

/** One request to the API server. */
export interface Call {
  method: Dispatcher.HttpMethod;
  path: string;
  body?: string | undefined;
  contentType?: string | undefined;
  /** Media types of the response. Default: JSON. */
  accept?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Connection pool. Default: `work`. */
  pool?: PoolName | undefined;
}

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

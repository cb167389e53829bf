import type { Dispatcher } from 'undici';
import type { PoolName } from './connections.ts';

/** One request to the API server. */
export interface Call {
  method: Dispatcher.HttpMethod;
  path: string;
  body?: string | undefined;
  contentType?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Whose connections it takes; `work` without it. */
  pool?: PoolName | undefined;
}

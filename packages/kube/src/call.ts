import type { Dispatcher } from 'undici';
import type { Lane } from './connections.ts';

/** One request to the API server. */
export interface Call {
  method: Dispatcher.HttpMethod;
  path: string;
  body?: string | undefined;
  contentType?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Whose connections it takes; `work` without it. */
  lane?: Lane | undefined;
}

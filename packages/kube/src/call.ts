import type { Dispatcher } from 'undici';

/** One request to the API server. */
export interface Call {
  method: Dispatcher.HttpMethod;
  path: string;
  body?: string | undefined;
  contentType?: string | undefined;
  signal?: AbortSignal | undefined;
  /** It never waits for a connection behind others. */
  isUrgent?: boolean | undefined;
}

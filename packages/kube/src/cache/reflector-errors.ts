import { KubeError } from '../errors.ts';
import type { KubeObject } from '../kinds/kind.ts';
import type { ObjectEvent, WatchEvent } from '../client/watch-events.ts';

/** @throws KubeError for an ERROR event. */
export function objectEventOf(event: WatchEvent<KubeObject>, resource: string): ObjectEvent<KubeObject> {
  if (event.type !== 'ERROR') return event;
  const { code, message = '' } = event.object;
  throw new KubeError({
    code: code === 410 ? 'Expired' : 'ServerError',
    status: code,
    message: `watch of ${resource} ended: ${message}`,
  });
}

export const endedEarly = (resource: string): KubeError =>
  new KubeError({
    code: 'Timeout',
    message: `list of ${resource} ended before it was complete; retrying`,
  });

export const isInvalid = (error: unknown): error is KubeError => error instanceof KubeError && error.code === 'Invalid';

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

import { Event } from '@metal/kube/kinds/builtin.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';

/** Waits on a watch for the first event about the object, or the first with that reason. */
export async function eventAbout(client: KubeClient, { metadata }: KubeObject, reason?: string): Promise<Event> {
  const matches = ({ regarding, reason: eventReason }: Event): boolean =>
    regarding.uid === metadata.uid && (reason === undefined || eventReason === reason);
  const { items, resourceVersion } = await client.list(Event);
  const found = items.find(matches);
  if (found !== undefined) return found;
  for await (const change of client.watch(Event, { resourceVersion, timeoutSeconds: 60 })) {
    if (change.type === 'ADDED' && matches(change.object)) return change.object;
  }
  throw new Error(`there was no event ${reason ?? ''} about ${metadata.name} within a minute`);
}

import type { Server } from '@metal/api/v1alpha1/server.ts';
import { metadataAddressesAnnotation } from '@metal/api/wire/contract.ts';
import type { EventRecorder } from '@metal/kube/client/events.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { unusableAddresses } from './addresses.ts';

/** Records an event on a Server whose annotation contains unusable addresses; its machine only receives a 404. */
export function warnOfAddresses(servers: Cache<Server>, events: EventRecorder): Disposable {
  const warn = (server: Server): void => {
    const unusable = unusableAddresses(server);
    if (unusable.length === 0) return;
    events.record(server, {
      type: 'Warning',
      reason: 'MetadataAddressesUnusable',
      action: 'ServeMetadata',
      note: `${metadataAddressesAnnotation} names ${unusable.slice(0, 5).join(', ')}: expected IP addresses separated by commas, none of them link-local, multicast or unspecified. The others count`,
    });
  };
  for (const server of servers.all()) warn(server);
  return servers.onChange(({ before, after }) => {
    const was = before?.metadata.annotations?.[metadataAddressesAnnotation];
    if (after !== undefined && after.metadata.annotations?.[metadataAddressesAnnotation] !== was) warn(after);
  });
}

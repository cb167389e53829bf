import type { Server } from '../v1alpha1/server.ts';
import { isPaused } from './paused.ts';

/** Why an order to erase the disks of a server in Cleanup does not stand any more; undefined while it does. */
export function withdrawalOf(server: Server): string | undefined {
  const claim = server.spec.serverClaimRef;
  if (claim !== undefined) return `spec.serverClaimRef names claim ${claim.namespace}/${claim.name}`;
  return isPaused(server) ? 'it is paused by annotation metal.ironcore.dev/operation' : undefined;
}

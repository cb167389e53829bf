import type { Server } from '../v1alpha1/server.ts';
import { isPaused } from './paused.ts';

/** The reason for which an erasure order for a server in Cleanup is withdrawn; undefined while the order is valid. */
export function withdrawalOf(server: Server): string | undefined {
  const claim = server.spec.serverClaimRef;
  if (claim !== undefined) return `spec.serverClaimRef names claim ${claim.namespace}/${claim.name}`;
  return isPaused(server) ? 'it is paused by annotation metal.ironcore.dev/operation' : undefined;
}

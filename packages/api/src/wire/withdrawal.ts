import type { Server } from '../v1alpha1/server.ts';
import { isPaused } from './paused.ts';

/** The reason for which an erasure order for a server in Cleanup is withdrawn; undefined while the order is valid. */
export function withdrawalOf(server: Server): string | undefined {
  const claim = server.spec.serverClaimRef;
  if (claim !== undefined) return `spec.serverClaimRef names claim ${claim.namespace}/${claim.name}`;
  return isPaused(server) ? 'it is paused by annotation metal.ironcore.dev/operation' : undefined;
}

/** The reason for which nothing may be written to a disk for a claim; undefined while a deployment is valid. */
export function deploymentWithdrawalOf(server: Server): string | undefined {
  const { metadata, spec, status } = server;
  const claim = spec.serverClaimRef;
  const state = status?.state ?? 'Initial';
  if (metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  if (state !== 'Reserved') return `it is in state ${state}`;
  if (claim === undefined || claim.evicted === true) return 'no claim holds it';
  return isPaused(server) ? 'it is paused by annotation metal.ironcore.dev/operation' : undefined;
}

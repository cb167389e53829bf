import { Server } from '@metal/api/v1alpha1/server.ts';
import { isAdoptionRequested } from '@metal/api/wire/adoption.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { StaleDecision } from '../../../errors.ts';
import type { ServerReconcile } from '../machine.ts';

/** An API server that does not respond delays the power-off no longer than this. */
const deadlineMs = 10_000;

/**
 * A cache may lag by minutes without an error. Before a machine is powered off, its claim and its maintenance are read from
 * the API server. The read is not aborted with the reconcile, as a power-off in progress is completed.
 *
 * @throws StaleDecision when the Server differs from the decided one; KubeError when the API server cannot be read.
 */
export async function verifyOwnership({ object, context }: ServerReconcile): Promise<void> {
  const { name } = object.metadata;
  const live = await context.client.find(Server, { name }, { signal: AbortSignal.timeout(deadlineMs) });
  const found = changeSince(object, live);
  if (found === undefined) return;
  throw new StaleDecision(
    `Server ${name} was to be switched off, but ${found}; nothing was sent, waiting for the cache`,
  );
}

/** Describes the change of ownership, pause or deletion since the decision; undefined if there is none. */
export function changeSince(observed: Server, live: Server | undefined): string | undefined {
  if (live === undefined || live.metadata.uid !== observed.metadata.uid) return 'it was deleted';
  if (live.metadata.deletionTimestamp !== undefined && observed.metadata.deletionTimestamp === undefined)
    return 'it is being deleted';
  if (isPaused(live)) return 'it is paused by annotation';
  if (isAdoptionRequested(live) && !isAdoptionRequested(observed)) return 'a claim is to adopt it as it is';
  const [claim, maintenance] = [live.spec.serverClaimRef, live.spec.serverMaintenanceRef];
  if (nameOf(claim) !== nameOf(observed.spec.serverClaimRef))
    return `its claim is ${nameOf(claim)}, expected ${nameOf(observed.spec.serverClaimRef)}`;
  if (nameOf(maintenance) !== nameOf(observed.spec.serverMaintenanceRef))
    return `its maintenance is ${nameOf(maintenance)}, expected ${nameOf(observed.spec.serverMaintenanceRef)}`;
  return undefined;
}

/** References of v0.7.0 have no UID. */
const nameOf = (ref: { namespace?: string; name?: string; uid?: string | undefined } | undefined): string =>
  ref === undefined ? 'none' : `${ref.namespace}/${ref.name}${ref.uid === undefined ? '' : ` (${ref.uid})`}`;

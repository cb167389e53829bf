import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import {
  cleanupAttemptAnnotation,
  cleanupBiosResetAnnotation,
  cleanupModeAnnotation,
  cleanupNeedAnnotation,
  cleanupPreparedAnnotation,
} from '@metal/api/wire/contract.ts';
import { erasureOrderFile } from '@metal/api/wire/erasure.ts';
import { isAdmissible, queueFacts } from '../../../cleanup/queue-position.ts';
import { StaleDecision } from '../../../errors.ts';
import { prepareBoot } from '../boot/internal-boot.ts';
import { memoryOf, type ServerReconcile } from '../machine.ts';
import { inventoryOf, orderOf } from './disks.ts';
import { heldMessage } from './hold.ts';
import { needsBoot } from './policy.ts';
import { biosOrderText } from './reset-facts.ts';

/** Overwriting a big disk may take days. The token ends earlier, when its boot configuration is deleted. */
const tokenValidMs = 14 * 24 * 60 * 60_000;

/**
 * Checks the limits and reserves a place without an await in between: if two reconciles saw the last free place, only one
 * gets it. Other processes see the reservation in the next status write.
 */
export async function admitCleanup(reconcile: ServerReconcile): Promise<void> {
  const since = reconcile.object.status?.cleanup?.neededSince;
  if (
    since !== undefined &&
    isAdmissible(queueFacts(reconcile.object, reconcile.context, reconcile.context.clock.now()))
  )
    reconcile.context.cleanupQueue.reserve(reconcile.object);
}

/**
 * Prepares the boot of an attempt like that of a discovery, with the erasure order in the ignition. If no disk is to be
 * erased, the order is to report the start: a BIOS reset takes effect only when the machine starts.
 */
export async function prepareCleanupBoot(reconcile: ServerReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  const { attempt, policy, bios } = facts.cleanup;
  const mode = policy.disks;
  const neededSince = object.status?.cleanup?.neededSince;
  if (neededSince === undefined || !needsBoot(policy) || attempt === 0)
    throw new StaleDecision('what is to be cleaned up has changed');
  const order = mode === 'None' ? { attempt, mode, disks: [] } : orderOf(disksOf(reconcile), mode, attempt);
  await prepareBoot(reconcile, {
    annotations: {
      [cleanupAttemptAnnotation]: String(attempt),
      [cleanupModeAnnotation]: mode,
      [cleanupNeedAnnotation]: neededSince,
      [cleanupPreparedAnnotation]: new Date(context.clock.now()).toISOString(),
      ...(bios.kind === 'requested' ? { [cleanupBiosResetAnnotation]: biosOrderText(bios) } : {}),
    },
    tokenValidMs,
    files: [{ path: erasureOrderFile, text: JSON.stringify(order) }],
  });
}

function disksOf({ object, context }: ServerReconcile): ServerInventory {
  const inventory = inventoryOf(object, context.caches.inventories.get(object.metadata.name));
  if (inventory === undefined) throw new StaleDecision('which disks it has is not known any more');
  return inventory;
}

/** One event per message: it reports to the author of the claim reference what was erased already. */
export async function recordHeldEvent(reconcile: ServerReconcile): Promise<void> {
  const note = heldMessage(reconcile.facts);
  memoryOf(reconcile).reportedCleanupHold = note;
  reconcile.recordEvent({ type: 'Warning', reason: 'CleanupHeldByClaim', action: 'HoldCleanup', note });
}

import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import {
  cleanupAttemptAnnotation,
  cleanupBiosResetAnnotation,
  cleanupModeAnnotation,
  cleanupNeedAnnotation,
  cleanupPreparedAnnotation,
} from '@metal/api/wire/contract.ts';
import { erasureOrderFile } from '@metal/api/wire/erasure.ts';
import { StaleDecision } from '../../../errors.ts';
import { heldMessage } from './hold.ts';
import { needsBoot } from './policy.ts';
import { isAdmissible, queueFacts } from '../../../cleanup/queue-position.ts';
import { biosOrderText } from './reset-facts.ts';
import { memoryOf, type ServerReconcile } from '../machine.ts';
import { inventoryOf, orderOf } from './disks.ts';
import { prepareBoot } from '../boot/internal-boot.ts';

/** The token of a cleanup dies with its boot configuration; a big disk may take days to be overwritten. */
const tokenValidMs = 14 * 24 * 60 * 60_000;

/**
 * Judged and taken in one step, without anything in between: of two turns that both saw the last place, one gets it.
 * The next status write tells it to everybody else.
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
 * What an attempt boots is made as for a discovery, with the order for the agent in its ignition besides. Where no disk is
 * to be erased, the order is to say that the machine has started: only that tells that its BIOS did what it was asked.
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

/** Once per text: who put the reference back is to know at once what is lost. */
export async function recordHeldEvent(reconcile: ServerReconcile): Promise<void> {
  const note = heldMessage(reconcile.facts);
  memoryOf(reconcile).reportedCleanupHold = note;
  reconcile.recordEvent({ type: 'Warning', reason: 'CleanupHeldByClaim', action: 'HoldCleanup', note });
}

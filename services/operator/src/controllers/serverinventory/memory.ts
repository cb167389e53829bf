import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { OperatorContext } from '../context.ts';
import { type InventoryMemory, inventoryState } from './facts.ts';

/** The only place besides the action that changes memory. */
export function updateMemory(
  memory: InventoryMemory,
  inventory: ServerInventory,
  context: OperatorContext,
  { now }: { now: number },
): void {
  const { isReadable, isCurrent } = inventoryState(inventory, context);
  if (isCurrent) memory.noticedAt = undefined;
  else if (isReadable) memory.noticedAt ??= now;
}

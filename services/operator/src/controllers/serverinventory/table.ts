import { act, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import type { InventoryAction, InventoryFacts, InventoryPhase } from './facts.ts';
import type { InventoryReason } from './reasons.ts';

const row = rowsOf<InventoryPhase, InventoryFacts, InventoryAction, InventoryReason>();

/** Changes of the Server, its BMC and its updates come before the end of a wait. */
export const inventoryTable: PhaseTable<InventoryPhase, InventoryFacts, InventoryAction, InventoryReason> = {
  Reported: row([], ({ isWanted, isReadable, isCurrent, dueInMs }) => {
    if (!isWanted || !isReadable || isCurrent) return rest;
    return dueInMs > 0 ? wait(dueInMs, 'FirmwareReadScheduled') : act('readFirmware', 'FirmwareReadDue');
  }),
};

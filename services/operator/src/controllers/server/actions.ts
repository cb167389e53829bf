import { admitCleanup, prepareCleanupBoot, recordHeldEvent } from './cleanup/actions.ts';
import { certifyCleanup, dropWaiver, recordCleanup, recordWaiver, removeBmcMark } from './cleanup/records.ts';
import { observeBios, resetBios, restoreBootOrder } from './cleanup/reset-actions.ts';
import { patchSpec, type ServerReconcile } from './machine.ts';
import {
  consumeOperation,
  deferPark,
  dropInterruptedOperation,
  dropParkedOperation,
  dropUnsupportedOperation,
  park,
  rejectRediscovery,
  resetMachine,
  unpark,
} from './operations/actions.ts';
import { setBootOrder, setLight } from './settings/actions.ts';
import type { ServerAction } from './types.ts';
import { observe } from './bmc/actions.ts';
import { recordDuplicateEvent } from './duplicates/actions.ts';
import { readInventory, prepareProbeBoot } from './discovery/actions.ts';
import {
  adoptClaimBoot,
  renewClaimBoot,
  recordPower,
  verifyClaim,
  verifyEviction,
  markEvicted,
  recordClaim,
  adoptRestoredClaim,
} from './claim/actions.ts';
import { dropMaintenanceRef } from './maintenance/actions.ts';
import { dropBootsOfDeleted, recordDeletionEvent } from './deletion/actions.ts';
import { clearBoot, clearOverride } from './boot/actions.ts';
import { shutDown, networkBoot, diskBoot } from './power/actions.ts';

export const serverActions: Record<ServerAction, (reconcile: ServerReconcile) => Promise<void>> = {
  recordDuplicateEvent,
  observe,
  readInventory,
  powerOff: (reconcile) => shutDown(reconcile, false),
  forceOff: (reconcile) => shutDown(reconcile, true),
  networkBoot,
  diskBoot,
  resetMachine,
  setLight,
  setBootOrder,
  prepareProbeBoot,
  clearBoot,
  clearOverride,
  admitCleanup,
  resetBios,
  observeBios,
  prepareCleanupBoot,
  recordHeldEvent,
  restoreBootOrder,
  recordCleanup,
  certifyCleanup,
  recordWaiver,
  dropWaiver,
  removeBmcMark,
  adoptClaimBoot,
  renewClaimBoot,
  recordPower,
  verifyClaim,
  recordClaim,
  adoptRestoredClaim,
  verifyEviction,
  markEvicted,
  dropClaimRef: (reconcile) => patchSpec(reconcile, { serverClaimRef: null, bootConfigurationRef: null, power: 'Off' }),
  dropMaintenanceRef,
  park,
  unpark,
  deferPark,
  dropParkedOperation,
  dropUnsupportedOperation,
  dropInterruptedOperation,
  rejectRediscovery,
  consumeOperation,
  dropBootsOfDeleted,
  recordDeletionEvent,
};

import { observe } from './bmc/actions.ts';
import { clearBoot, clearOverride } from './boot/actions.ts';
import {
  adoptClaimBoot,
  adoptRestoredClaim,
  dropClaimRef,
  markEvicted,
  recordClaim,
  recordPower,
  renewClaimBoot,
  verifyClaim,
  verifyEviction,
} from './claim/actions.ts';
import { admitCleanup, prepareCleanupBoot, recordHeldEvent } from './cleanup/actions.ts';
import { certifyCleanup, dropWaiver, recordCleanup, recordWaiver, removeBmcMark } from './cleanup/records.ts';
import { observeBios, resetBios, restoreBootOrder } from './cleanup/reset-actions.ts';
import { acceptDecommission, recommission, recordDecommissioned } from './decommissioning/actions.ts';
import { resetBmcToDefaults } from './decommissioning/bmc-reset.ts';
import { dropBootsOfDeleted, recordDeletionEvent } from './deletion/actions.ts';
import { prepareDeploymentBoot, recordDeployment } from './deployment/actions.ts';
import { prepareProbeBoot, readInventory } from './discovery/actions.ts';
import { recordDuplicateEvent } from './duplicates/actions.ts';
import { readUnhealthyParts, recordHealthEvent } from './health/actions.ts';
import type { ServerReconcile } from './machine.ts';
import { dropMaintenanceRef, readParts, recordMaintenancePower } from './maintenance/actions.ts';
import {
  acceptAdoption,
  consumeOperation,
  deferPark,
  dropDecommissionedOperation,
  dropInterruptedOperation,
  dropParkedOperation,
  dropUnsupportedOperation,
  park,
  rejectAdoption,
  rejectRediscovery,
  resetMachine,
  unpark,
} from './operations/actions.ts';
import { diskBoot, forceOff, networkBoot, powerOff } from './power/actions.ts';
import { acceptSystemUuid, finishReplacement } from './replacement/actions.ts';
import { setBootOrder, setLight } from './settings/actions.ts';
import type { ServerAction } from './types.ts';

export const serverActions: Record<ServerAction, (reconcile: ServerReconcile) => Promise<void>> = {
  observe,

  powerOff,
  forceOff,
  networkBoot,
  diskBoot,

  clearBoot,
  clearOverride,

  readInventory,
  prepareProbeBoot,

  adoptRestoredClaim,
  verifyClaim,
  recordClaim,
  adoptClaimBoot,
  renewClaimBoot,
  recordPower,
  verifyEviction,
  markEvicted,
  dropClaimRef,

  removeBmcMark,
  admitCleanup,
  resetBios,
  prepareCleanupBoot,
  recordHeldEvent,
  observeBios,
  restoreBootOrder,
  recordCleanup,
  certifyCleanup,
  recordWaiver,
  dropWaiver,

  prepareDeploymentBoot,
  recordDeployment,

  acceptDecommission,
  resetBmcToDefaults,
  recordDecommissioned,
  recommission,

  acceptSystemUuid,
  finishReplacement,

  dropMaintenanceRef,
  recordMaintenancePower,
  readParts,

  park,
  unpark,
  deferPark,
  dropParkedOperation,
  dropDecommissionedOperation,
  dropUnsupportedOperation,
  dropInterruptedOperation,
  rejectRediscovery,
  rejectAdoption,
  acceptAdoption,
  consumeOperation,
  resetMachine,

  setLight,
  setBootOrder,

  readUnhealthyParts,
  recordHealthEvent,

  recordDuplicateEvent,

  dropBootsOfDeleted,
  recordDeletionEvent,
};

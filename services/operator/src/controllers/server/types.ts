import type { Inventory } from '@metal/redfish/resources/inventory.ts';
import type { BootFacts } from './boot/configuration-facts.ts';
import type { ClaimFacts } from './claim/facts.ts';
import type { CleanupFacts } from './cleanup/facts.ts';
import type { DuplicateFacts } from './duplicates/facts.ts';
import type { PowerFacts } from './power/facts.ts';
import type { ServerReason } from './reasons.ts';
import type { MaintenanceFacts } from './maintenance/facts.ts';
import type { OperationFacts } from './operations/facts.ts';
import type { SettingFacts } from './settings/facts.ts';
import type { Decision } from '@metal/kube/controller/decide.ts';
import type { EvictionFacts } from './claim/eviction-facts.ts';
import type { DeletionFacts } from './deletion/facts.ts';
import type { BmcFacts } from './bmc/facts.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';

export type ServerPhase =
  | 'Initial'
  | 'Discovery'
  | 'Available'
  | 'Reserved'
  | 'Released'
  | 'Cleanup'
  | 'Maintenance'
  | 'Parked'
  | 'Error';

export type ServerAction =
  | 'recordDuplicateEvent'
  | 'observe'
  | 'readInventory'
  | 'powerOff'
  | 'forceOff'
  | 'networkBoot'
  | 'diskBoot'
  | 'resetMachine'
  | 'setLight'
  | 'setBootOrder'
  | 'prepareProbeBoot'
  | 'clearBoot'
  | 'clearOverride'
  | 'admitCleanup'
  | 'resetBios'
  | 'observeBios'
  | 'prepareCleanupBoot'
  | 'recordHeldEvent'
  | 'restoreBootOrder'
  | 'recordCleanup'
  | 'certifyCleanup'
  | 'recordWaiver'
  | 'dropWaiver'
  | 'removeBmcMark'
  | 'adoptClaimBoot'
  | 'renewClaimBoot'
  | 'recordPower'
  | 'verifyClaim'
  | 'recordClaim'
  | 'adoptRestoredClaim'
  | 'verifyEviction'
  | 'markEvicted'
  | 'dropClaimRef'
  | 'dropMaintenanceRef'
  | 'park'
  | 'unpark'
  | 'deferPark'
  | 'dropParkedOperation'
  | 'dropUnsupportedOperation'
  | 'dropInterruptedOperation'
  | 'rejectRediscovery'
  | 'consumeOperation'
  | 'dropBootsOfDeleted'
  | 'recordDeletionEvent';

/** Why a server is in state Error. */
export interface Failure {
  readonly reason: ServerReason;
  readonly message: string;
}

export interface ServerFacts extends BmcFacts, PowerFacts {
  readonly duplicate: DuplicateFacts | undefined;
  /** What this process has read of the hardware and the status does not say yet. */
  readonly hardware: Inventory | undefined;
  /** The last reading of the hardware left something out. */
  readonly hardwareIncomplete: boolean;
  readonly hardwareSeenMsAgo: number | undefined;
  readonly led: string | undefined;
  /** What the BMC can be told to boot from once; undefined where it does not say. */
  readonly bootTargets: readonly string[] | undefined;
  /** How the boot service prepared what the server is to boot; undefined where it does not say. */
  readonly bootMethod: string | undefined;
  readonly light: SettingFacts;
  readonly bootOrder: SettingFacts;
  readonly seenBootOrder: readonly string[] | undefined;
  /** The last look saw a boot override that is in force. */
  readonly overrideSeen: boolean;
  readonly inventoryRead: boolean;
  readonly mayInterrupt: boolean;
  readonly inPhaseForMs: number;
  readonly discoveryTimeoutMs: number;
  readonly discoveryAttempts: number;
  readonly maxDiscoveryAttempts: number;

  readonly operation: OperationFacts;
  readonly parked: boolean;
  readonly parkDeferralReported: boolean;
  readonly maintenance: MaintenanceFacts;
  /** State that the maintenance interrupted. */
  readonly stateBeforeMaintenance: string | undefined;
  readonly failure: Failure | undefined;

  readonly probeBoot: BootFacts | undefined;
  /** The server refers to a boot configuration, whether that exists or not. */
  readonly bootReferenced: boolean;
  /**
   * What else stands in the place of the probe boot. stale: of an earlier Server of this name, or being deleted. taken:
   * somebody else's, such as the boot configuration of a claim that is called like the server.
   */
  readonly foreignProbeBoot: 'none' | 'stale' | 'taken';
  /** early: of this boot, although the machine was not started since that was prepared. */
  readonly report: 'absent' | 'early' | 'fresh';
  readonly inventory: ServerInventory | undefined;
  /** UID of the boot configuration that the server refers to, while the machine was not started since it was prepared. */
  readonly pendingBootUid: string | undefined;
  readonly bootRenewedMsAgo: number | undefined;

  readonly cleanup: CleanupFacts;
  readonly claim: ClaimFacts;
  readonly eviction: EvictionFacts | undefined;
  readonly reclaim: 'Recycle' | 'Retain';
  readonly enforcePowerOff: boolean;
  readonly deletion: DeletionFacts;
}

export type GlobalPhase = 'Maintenance' | 'Parked' | 'Error';

export type Step<Phase extends ServerPhase = never> = Decision<Phase, ServerAction, ServerReason>;

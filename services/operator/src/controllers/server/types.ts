import type { Decision } from '@metal/kube/controller/decide.ts';
import type { BmcFacts } from './bmc/facts.ts';
import type { CurrentBootFacts } from './boot/facts.ts';
import type { EvictionFacts } from './claim/eviction-facts.ts';
import type { ClaimFacts } from './claim/facts.ts';
import type { CleanupFacts } from './cleanup/facts.ts';
import type { DeletionFacts } from './deletion/facts.ts';
import type { DiscoveryFacts } from './discovery/facts.ts';
import type { HardwareFacts } from './discovery/hardware-facts.ts';
import type { DuplicateFacts } from './duplicates/facts.ts';
import type { HealthFacts } from './health/facts.ts';
import type { MaintenanceFacts } from './maintenance/facts.ts';
import type { OperationsFacts } from './operations/facts.ts';
import type { PowerFacts } from './power/facts.ts';
import type { ServerReason } from './reasons.ts';
import type { SettingsFacts } from './settings/facts.ts';

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

/** Carried out by the function of the same name in `actions.ts` of a folder. */
export type ServerAction =
  // bmc
  | 'observe'
  // power
  | 'powerOff'
  | 'forceOff'
  | 'networkBoot'
  | 'diskBoot'
  // boot
  | 'clearBoot'
  | 'clearOverride'
  // discovery
  | 'readInventory'
  | 'prepareProbeBoot'
  // claim
  | 'adoptRestoredClaim'
  | 'verifyClaim'
  | 'recordClaim'
  | 'adoptClaimBoot'
  | 'renewClaimBoot'
  | 'recordPower'
  | 'verifyEviction'
  | 'markEvicted'
  | 'dropClaimRef'
  // cleanup
  | 'removeBmcMark'
  | 'admitCleanup'
  | 'resetBios'
  | 'prepareCleanupBoot'
  | 'recordHeldEvent'
  | 'observeBios'
  | 'restoreBootOrder'
  | 'recordCleanup'
  | 'certifyCleanup'
  | 'recordWaiver'
  | 'dropWaiver'
  // maintenance
  | 'dropMaintenanceRef'
  // operations
  | 'park'
  | 'unpark'
  | 'deferPark'
  | 'dropParkedOperation'
  | 'dropUnsupportedOperation'
  | 'dropInterruptedOperation'
  | 'rejectRediscovery'
  | 'consumeOperation'
  | 'resetMachine'
  // settings
  | 'setLight'
  | 'setBootOrder'
  // health
  | 'readUnhealthyParts'
  | 'recordHealthEvent'
  // duplicates
  | 'recordDuplicateEvent'
  // deletion
  | 'dropBootsOfDeleted'
  | 'recordDeletionEvent';

/** Why a server is in state Error. */
export interface Failure {
  readonly reason: ServerReason;
  readonly message: string;
}

export interface ServerFacts
  extends BmcFacts,
    PowerFacts,
    CurrentBootFacts,
    HardwareFacts,
    HealthFacts,
    DiscoveryFacts,
    OperationsFacts,
    SettingsFacts {
  readonly inPhaseForMs: number;
  readonly failure: Failure | undefined;
  readonly claim: ClaimFacts;
  readonly eviction: EvictionFacts | undefined;
  readonly reclaim: 'Recycle' | 'Retain';
  readonly cleanup: CleanupFacts;
  readonly maintenance: MaintenanceFacts;
  /** The state that the maintenance interrupted. */
  readonly stateBeforeMaintenance: string | undefined;
  /** Undefined unless another Server has the same system UUID. */
  readonly duplicate: DuplicateFacts | undefined;
  readonly deletion: DeletionFacts;
}

/** Phases that a server may enter from any other one: see global-transitions.ts. */
export type GlobalPhase = 'Maintenance' | 'Parked' | 'Error';

/** A decision that may only enter the given phases. */
export type Step<Phase extends ServerPhase = never> = Decision<Phase, ServerAction, ServerReason>;

import type { Decision } from '@metal/kube/controller/decide.ts';
import type { BmcFacts } from './bmc/facts.ts';
import type { CurrentBootFacts } from './boot/facts.ts';
import type { EvictionFacts } from './claim/eviction-facts.ts';
import type { ClaimFacts } from './claim/facts.ts';
import type { CleanupFacts } from './cleanup/facts.ts';
import type { DecommissionFacts } from './decommissioning/facts.ts';
import type { DeletionFacts } from './deletion/facts.ts';
import type { DeploymentFacts } from './deployment/facts.ts';
import type { DiscoveryFacts } from './discovery/facts.ts';
import type { HardwareFacts } from './discovery/hardware-facts.ts';
import type { VersionFacts } from './discovery/version-facts.ts';
import type { DuplicateFacts } from './duplicates/facts.ts';
import type { HealthFacts } from './health/facts.ts';
import type { MaintenanceFacts } from './maintenance/facts.ts';
import type { OperationsFacts } from './operations/facts.ts';
import type { PowerFacts } from './power/facts.ts';
import type { ReplacementFacts } from './replacement/facts.ts';
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
  | 'Decommissioning'
  | 'Decommissioned'
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
  // deployment
  | 'prepareDeploymentBoot'
  | 'recordDeployment'
  // decommissioning
  | 'acceptDecommission'
  | 'resetBmcToDefaults'
  | 'recordDecommissioned'
  | 'recommission'
  // replacement
  | 'acceptSystemUuid'
  | 'finishReplacement'
  // maintenance
  | 'dropMaintenanceRef'
  | 'recordMaintenancePower'
  | 'readParts'
  // operations
  | 'park'
  | 'unpark'
  | 'deferPark'
  | 'dropParkedOperation'
  | 'dropDecommissionedOperation'
  | 'dropUnsupportedOperation'
  | 'dropInterruptedOperation'
  | 'rejectRediscovery'
  | 'rejectAdoption'
  | 'acceptAdoption'
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
    VersionFacts,
    HealthFacts,
    DiscoveryFacts,
    OperationsFacts,
    SettingsFacts {
  readonly inPhaseForMs: number;
  readonly failure: Failure | undefined;
  readonly claim: ClaimFacts;
  /** Undefined unless the claim that holds the server has a disk image. */
  readonly deployment: DeploymentFacts | undefined;
  readonly eviction: EvictionFacts | undefined;
  readonly reclaim: 'Recycle' | 'Retain';
  readonly cleanup: CleanupFacts;
  readonly maintenance: MaintenanceFacts;
  /** The parts as they were read outside of a maintenance. */
  readonly parts: readonly string[] | undefined;
  /** The state that the maintenance interrupted. */
  readonly stateBeforeMaintenance: string | undefined;
  /** Undefined unless another Server has the same system UUID. */
  readonly duplicate: DuplicateFacts | undefined;
  readonly decommission: DecommissionFacts;
  readonly replacement: ReplacementFacts;
  readonly deletion: DeletionFacts;
}

/** Phases that a server may enter from any other one: see global-transitions.ts. */
export type GlobalPhase = 'Maintenance' | 'Parked' | 'Error' | 'Cleanup' | 'Decommissioning' | 'Decommissioned';

/** A decision that may only enter the given phases. */
export type Step<Phase extends ServerPhase = never> = Decision<Phase, ServerAction, ServerReason>;

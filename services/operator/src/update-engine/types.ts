import type { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { NamesMaintenances } from '@metal/api/wire/named-maintenances.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import type { FirmwareComponent } from '@metal/redfish/resources/firmware-inventory.ts';
import type { Connection } from '../bmc-connections/connection.ts';
import type { Explanation } from '../controllers/ready-condition.ts';

type VersionStatus = NonNullable<BIOSVersion['status']>;

/** Fields that the statuses of all kinds of updates share; those of versions have a task. */
export type UpdateStatus = Omit<VersionStatus, 'upgradeTask' | 'installedVersion'> &
  Partial<Pick<VersionStatus, 'upgradeTask' | 'installedVersion'>>;
export type Attempt = NonNullable<UpdateStatus['attempt']>;
export type Restart = NonNullable<Attempt['restart']>;
export type Plan = NonNullable<UpdateStatus['plan']>;
export type Change = Plan['changes'][number];

/** An object that changes settings or firmware of one server or of one BMC. */
export interface UpdateObject extends KubeObject, NamesMaintenances {
  readonly spec: NamesMaintenances['spec'] & {
    readonly version: string;
    readonly dryRun?: boolean | undefined;
    readonly serverMaintenancePolicy?: string | undefined;
    readonly retryPolicy?: { readonly maxAttempts?: number | undefined } | undefined;
  };
  readonly status?: UpdateStatus | undefined;
}

/** The changes of an object. */
export interface Target {
  readonly bmcName: string;
  readonly bmc: BMC | undefined;
  readonly connection: Connection | undefined;
  /** Servers that are in maintenance during the change. */
  readonly servers: readonly Server[];
  /** Why nothing can be sent now. */
  readonly blocker: Explanation | undefined;
  /** Why no change begins. One that was sent is followed. */
  readonly awaited?: Explanation | undefined;
  /** URIs of machines behind the BMC that have no Server of it: they are in no maintenance. */
  readonly unmanaged?: readonly string[] | undefined;
}

/** Changes that are made together, and what restarts for them. */
export interface Step {
  /** Empty where a kind has one step only. */
  readonly name: string;
  readonly changes: readonly Change[];
  readonly restart: Restart;
}

/** Why a change cannot begin now although it is valid. */
export interface Hold extends Explanation {
  /** Version that settings wait for: they join the maintenance of the object that installs it. */
  readonly version?: string | undefined;
  /** FirmwareVersion that installs the same image first. */
  readonly firmwareVersion?: string | undefined;
}

/** Desired against observed state, read from the BMC. */
export interface Comparison {
  /** SHA-256 of the desired state. Values of Secrets count by the version of the Secret. */
  readonly desired: string;
  /** Only those with differences, in the order in which they are applied. */
  readonly steps: readonly Step[];
  /** The desired state is invalid: nothing is changed. */
  readonly problem?: Explanation | undefined;
  readonly hold?: Hold | undefined;
  /** Something is sent before the machine is turned on: a start would apply what others left at the BMC. */
  readonly isPrepared?: false | undefined;
  /** The desired state has variables: objects that are not watched, or fields without a generation, are parts of it. */
  readonly hasVariables?: boolean | undefined;
  readonly installedVersion?: string | undefined;
  /** Members of FirmwareInventory that belong to the target; the selectors of other objects may match them, too. */
  readonly components?: readonly FirmwareComponent[] | undefined;
  /** Conditions with status True for checks that were not made. */
  readonly notes?: readonly ({ readonly type: string } & Explanation)[] | undefined;
}

/** The BMC accepted a change. `task` is the URI of its Redfish task, if it has one. */
export interface Accepted {
  readonly task?: string | undefined;
}

type ImageSpec = Pick<BIOSVersion['spec'], 'image' | 'updatePolicy' | 'upgradePolicy'>;
export interface VersionObject extends UpdateObject {
  readonly spec: UpdateObject['spec'] & ImageSpec;
}

/** The maintenance of an object: one ServerMaintenance for each of its servers. */
export interface WindowFacts {
  readonly state: 'none' | 'requested' | 'granted';
  /** The present ones of this object. */
  readonly maintenances: readonly ServerMaintenance[];
  /** Those that the operator created. */
  readonly own: readonly ServerMaintenance[];
  /** Servers for which it has none. */
  readonly missing: readonly Server[];
  /** Servers that one of its maintenances has. */
  readonly held: readonly Server[];
  /** Why a server is not in maintenance yet. */
  readonly explanation: string;
  /** Somebody deleted one of them, which waits for the end of a flash. */
  readonly isEnding: boolean;
  /** Desired power of the machines, where all of them agree. */
  readonly power: string | undefined;
}

/** intended: the change is about to be sent. sent: it was, and its response did not arrive. Undefined: another process may have sent it. */
export type Sending = 'intended' | 'sent' | undefined;

export interface UpdateFacts {
  readonly target: Target;
  /** Why the target is not for this object, if it is another one's, or contested. */
  readonly rival: string | undefined;
  /** The reference of the target to an object of this kind. none: there is no such reference. */
  readonly reference: 'none' | 'ours' | 'missing';
  readonly retry: string | undefined;
  readonly isDryRun: boolean;
  readonly rolloutWait: string | undefined;
  /** A correction has to wait for the rollout of its set, and does not yet. */
  readonly holdsForRollout: boolean;
  /** Undefined until the BMC was compared with the present spec. */
  readonly comparison: Comparison | undefined;
  readonly comparedMsAgo: number;
  /** The comparison was tried since the last one, without a result. */
  readonly isUnreadable: boolean;
  readonly nextDriftCheckInMs: number;
  /** Until the variables are read again; Infinity without any. */
  readonly nextVariablesReadInMs: number;
  readonly window: WindowFacts;
  /** Another object installs the version that this one waits for, in a maintenance that this one may join. */
  readonly joinsWindow: boolean;
  /** What this one waits for was installed after the comparison. */
  readonly hasVersionArrived: boolean;
  readonly attempt: Attempt;
  /** The status has the attempt as it is: it survives this process. */
  readonly isRecorded: boolean;
  readonly sending: Sending;
  readonly task: UpdateStatus['upgradeTask'];
  readonly nextPollInMs: number;
  /** A server whose BMC reports that its hardware is not OK. */
  readonly unhealthy: string | undefined;
  readonly isHostOn: boolean;
  readonly isHostOff: boolean;
  readonly needsHostOn: boolean;
  readonly restartsOnlyIfNeeded: boolean;
  readonly isFlash: boolean;
  readonly bmcReset: BmcResetFacts;
  readonly failure: UpdateStatus['failure'];
  /** Generation of the spec that failed. */
  readonly failedGeneration: number | undefined;
  readonly failedAttempts: number;
  readonly maxAttempts: number;
  readonly nextAttemptInMs: number;
  /** The spec changed after the failure. */
  readonly isCorrected: boolean;
  readonly retriedBy: string | undefined;
  readonly sentMsAgo: number;
  readonly startedMsAgo: number;
  readonly installedMsAgo: number;
  readonly restartedMsAgo: number;
  readonly timeoutMs: number;
  readonly reservedBy: string | undefined;
  /** Maximum servers of the fleet in maintenance; 0: no limit. */
  readonly maintenanceLimit: number;
  /** The target changed after it was as desired; otherwise the spec did. */
  readonly isDrift: boolean;
}

export interface BmcResetFacts {
  /** Before the work, by --reset-bmc-before-work. */
  readonly isWanted: boolean;
  readonly isUnderWay: boolean;
  /** Another operation that is requested of the BMC, as annotation=value: it comes first, or a person removes it. */
  readonly heldBy?: string | undefined;
}

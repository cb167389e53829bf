import type { BareMetalHostStatus, ErrorType, ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { DetachRequest, RebootRequest } from '../../host/request-annotations.ts';

export type HostState = ProvisioningState;

/** Calls of the provisioner, each with a result that decides what follows. */
export type HostStep =
  | 'refuseCredentials'
  | 'register'
  | 'inspect'
  | 'prepare'
  | 'refuseProvisioning'
  | 'provision'
  | 'adopt'
  | 'deprovision'
  | 'readPower'
  | 'attachDataImage'
  | 'startServicing'
  | 'service'
  | 'powerOn'
  | 'powerOff'
  | 'powerOffForDeletion'
  | 'detach'
  | 'reattach'
  | 'deleteNode';

/** Carried out by the function of the same name in `actions.ts`. */
export type HostAction = HostStep | 'askForCapacity' | 'dropRebootRequest' | 'releaseSecrets';

/** Result of a step in this pass. */
export type StepOutcome =
  | { readonly kind: 'done' }
  /** The status has changed and has to be stored before anything else happens. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'busy'; readonly delayMs: number; readonly message?: string }
  /** Undefined: it is tried again only after a change. */
  | { readonly kind: 'failed'; readonly delayMs: number | undefined; readonly message: string }
  | { readonly kind: 'unregistered' };

export interface HostFacts {
  /** As this pass stores it. */
  readonly status: BareMetalHostStatus;
  readonly node: NodeFacts;
  /** The present phase, which the status may not have yet. */
  readonly state: HostState;
  readonly isDeleting: boolean;
  /** Nothing outside of the object belongs to the host any more, except for its node. */
  readonly isReleased: boolean;
  /** `spec.bmc` names a BMC. */
  readonly isManaged: boolean;
  /** absent: while the host is being deleted, nothing needs them. */
  readonly credentials: 'present' | 'unusable' | 'absent';
  readonly operationalStatus: BareMetalHostStatus['operationalStatus'];
  readonly errorType: ErrorType | undefined;
  readonly errorCount: number;
  /** Results in this state and pass. */
  readonly outcomes: Readonly<Partial<Record<HostStep, StepOutcome>>>;
  /** Answer in this pass. */
  readonly capacity: { readonly isFree: boolean; readonly retryMs: number } | undefined;
  readonly detach: DetachRequest | undefined;

  readonly isOnline: boolean;
  readonly mayPowerOff: boolean;
  /** Last observed power. */
  readonly isPoweredOn: boolean;
  readonly reboot: RebootRequest | undefined;
  /** Of those with force. */
  readonly forcedReboot: RebootRequest | undefined;

  readonly isExternallyProvisioned: boolean;
  readonly inspection: 'disabled' | 'wanted' | 'requested';
  /** RAID and root device hints differ from those that are applied. */
  readonly hasNewSettings: boolean;
  /** HostFirmwareSettings and HostFirmwareComponents of the host. unread: their controllers have not seen the latest change. */
  readonly firmware: 'same' | 'changed' | 'unread';
  /** Firmware changes that the HostUpdatePolicy allows at a restart. */
  readonly hasServicing: boolean;
  /** It allows what is asked for, applied or not. */
  readonly hasServicingSpec: boolean;
  readonly hasDataImage: boolean;

  readonly deployment: Deployment;
  readonly isBelowRetryLimit: boolean;
}

/** The state of the node as the back end reports it; nothing of it before the registration. */
export interface NodeFacts {
  readonly hasPowerFailure: boolean;
  /** Empty if nobody knows. */
  readonly health: string;
}

/** The desired deployment, compared with the present one. */
export interface Deployment {
  readonly isWanted: boolean;
  /** An image or a custom deployment is recorded in the status. */
  readonly isRecorded: boolean;
  /** It is no longer wanted, or another one is. */
  readonly isCancelled: boolean;
}

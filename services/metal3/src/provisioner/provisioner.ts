import type { BareMetalHostStatus, BootMode, ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import type { Raid } from '@metal/api/metal3/raid.ts';
import type { Image } from '../image/image-checksum.ts';
import type { RootDeviceHints } from '../image/root-device.ts';
import type { CleaningMode, PowerMode, StepResult } from './step-result.ts';

/**
 * Operations of a back end such as Ironic for one host. Each method is idempotent and returns at once: it is called again until its
 * result is `done`. It throws what may pass by itself, such as a back end that does not answer: nothing of the status changes then.
 */
export interface Provisioner {
  /** Makes the back end know the host as it is described, and verifies the access to the BMC. Called in every pass. */
  register(data: RegistrationData): Promise<Registration>;
  /** Undefined: no PreprovisioningImage is wanted. Preferred formats first. */
  preprovisioningImageFormats(): Promise<readonly ('iso' | 'initrd')[] | undefined>;
  inspect(data: InspectionData): Promise<Inspection>;
  /** Undefined if nobody knows. Cheap. */
  readPower(): Promise<boolean | undefined>;
  /** Makes the back end consider the host deployed. */
  adopt(data: { readonly state: ProvisioningState } & Retry): Promise<StepResult>;
  /** Manual cleaning: RAID, settings, firmware. */
  prepare(data: PreparationData): Promise<Started>;
  /** The same for a deployed host. */
  service(data: ServicingData): Promise<Started>;
  provision(data: ProvisioningData): Promise<StepResult>;
  deprovision(data: { readonly cleaning: CleaningMode } & Retry): Promise<StepResult>;
  /** Removes the host from the back end; the machine is left alone. */
  delete(): Promise<StepResult>;
  /** The same for a host that is kept as an object; `isForced`: also while the back end works on it. */
  detach(data: { readonly isForced: boolean }): Promise<StepResult>;
  powerOn(data: { readonly isForced: boolean }): Promise<StepResult>;
  powerOff(data: PowerOffData): Promise<StepResult>;
  /** The back end may work on one host more. */
  hasCapacity(): Promise<boolean>;
  /** The back end lost the power control. False if nobody knows. */
  hasPowerFailure(): boolean;
  /** Empty if nobody knows. */
  health(): string;
}

/** Whether a failed operation is to be tried again. */
export interface Retry {
  readonly restartsAfterFailure: boolean;
}

export interface RegistrationData extends Retry {
  readonly hasNewCredentials: boolean;
  readonly state: ProvisioningState;
  readonly operationalStatus: BareMetalHostStatus['operationalStatus'];
  readonly bootMode: BootMode;
  readonly cleaning: CleaningMode;
  readonly architecture: string;
  readonly inspection: 'disabled' | 'agent' | 'fast';
  readonly disablePowerOff: boolean;
  readonly image: Image | undefined;
  readonly hasCustomDeploy: boolean;
  readonly hardware: HardwareDetails | undefined;
}

export interface Registration {
  readonly result: StepResult;
  /** Of the node, as soon as it is known. */
  readonly id: string | undefined;
}

export interface InspectionData extends Retry {
  readonly mode: 'agent' | 'fast';
  readonly bootMode: BootMode;
  readonly architecture: string;
  /** Somebody asked for another inspection. */
  readonly isRefresh: boolean;
  /** An inspection that waits for its ramdisk may be interrupted. */
  readonly isForced: boolean;
}

export interface Inspection {
  readonly result: StepResult;
  /** It has begun, or was aborted. */
  readonly isStarted: boolean;
  /** Of a finished inspection. */
  readonly details: HardwareDetails | undefined;
}

export interface Started {
  readonly result: StepResult;
  /** The back end accepted the changes. */
  readonly isStarted: boolean;
}

export interface FirmwareChanges {
  readonly settings: Readonly<Record<string, string | number>>;
  readonly updates: readonly { readonly component: string; readonly url: string }[];
}

export interface PreparationData extends Retry {
  readonly raid: Raid | undefined;
  readonly appliedRaid: Raid | undefined;
  readonly rootDeviceHints: RootDeviceHints | undefined;
  readonly firmware: FirmwareChanges;
  /** Something differs from what is applied. */
  readonly isUnprepared: boolean;
}

export interface ServicingData extends Retry {
  readonly firmware: FirmwareChanges;
  readonly isUnprepared: boolean;
  /** Changes are asked for, whether or not they are applied already. Otherwise a servicing that waits is aborted. */
  readonly hasFirmwareSpec: boolean;
}

export interface ProvisioningData extends Retry {
  readonly image: Image | undefined;
  readonly customDeploy: string | undefined;
  readonly bootMode: BootMode;
  readonly rootDeviceHints: RootDeviceHints | undefined;
  readonly isForced: boolean;
}

export interface PowerOffData {
  readonly mode: PowerMode;
  readonly isForced: boolean;
  readonly cleaning: CleaningMode;
}

import type { SettingSchema } from '@metal/api/metal3/firmware-schema.ts';

/**
 * Plain calls of a back end for one host, for the sibling kinds of BareMetalHost. Each throws NodeUnknown, NodeBusy or NotSupported
 * where that is the answer, and any other error for what may pass by itself.
 */
export interface NodeServices {
  readFirmwareSettings(): Promise<FirmwareSettings>;
  /** Empty: the back end knows no components. */
  readFirmwareComponents(): Promise<readonly FirmwareComponentState[]>;
  /** Resolves with the ID of the subscription. */
  addEventSubscription(subscription: EventSubscription): Promise<string>;
  /** One that does not exist any more is no error. */
  removeEventSubscription(id: string): Promise<void>;
  /** Whether an image is in the virtual CD drive. */
  readDataImage(): Promise<{ readonly isAttached: boolean }>;
  attachDataImage(url: string): Promise<void>;
  detachDataImage(): Promise<void>;
}

/** The back end does not know the host, for example before its registration. */
export class NodeUnknown extends Error {}
/** The back end works on the host; the call is repeated later. */
export class NodeBusy extends Error {}
/** The back end cannot do this. The message says why, and what can be done. */
export class NotSupported extends Error {}

export interface FirmwareSettings {
  /** Values in use, as texts, by the names of the BIOS attributes. */
  readonly settings: Readonly<Record<string, string>>;
  /** Empty if the BMC has no attribute registry. */
  readonly schema: Readonly<Record<string, SettingSchema>>;
  readonly vendor: string | undefined;
  readonly model: string | undefined;
}

export interface FirmwareComponentState {
  /** bios, bmc, or nic: with the name of an adapter. */
  readonly component: string;
  readonly initialVersion: string;
  readonly currentVersion: string | undefined;
  readonly lastVersionFlashed: string | undefined;
  /** RFC 3339. */
  readonly updatedAt: string | undefined;
}

export interface EventSubscription {
  readonly destination: string;
  readonly context: string;
  /** By name. */
  readonly httpHeaders: Readonly<Record<string, string>>;
}

import type { Access, Session } from './access.ts';
import type { ManagerSettings } from './attributes/manager-settings.ts';
import type { FaultBoard, Faults } from './faults.ts';
import type { Firmware } from './firmware.ts';
import type { Machine } from './machine.ts';
import type { VendorProfile } from './profiles.ts';
import type { Traffic } from './traffic.ts';

/** State of a simulated BMC, as its Redfish resources and its shell read and change it. */
export interface BmcState {
  readonly profile: VendorProfile;
  readonly machines: readonly [Machine, ...Machine[]];
  /** The first of its machines. */
  readonly machine: Machine;
  readonly address: string;
  readonly macAddress: string;
  readonly managerUuid: string;
  readonly access: Access;
  readonly board: FaultBoard;
  readonly faults: Readonly<Faults>;
  readonly traffic: Traffic;
  readonly settings: ManagerSettings;
  readonly sessions: readonly Session[];
  readonly sessionsOffered: boolean;
  readonly subscriptions: Map<string, Record<string, unknown>>;
  /** Reset types requested of the BMC itself over Redfish, in order. */
  readonly resets: string[];
  /** Milliseconds since the Unix epoch. */
  readonly restartedAt: number;
  readonly firmware: Firmware;
  /** Of the BMC itself. */
  readonly firmwareVersion: string;
  /** Fetches images. */
  readonly fetch: typeof globalThis.fetch;
  /** The UUID that the BMC reports for a machine. */
  uuidOf(machine: Machine): string | null;
  restart(): void;
  /** Returns the ID of the new subscription. */
  addSubscription(subscription: Record<string, unknown>): string;
}

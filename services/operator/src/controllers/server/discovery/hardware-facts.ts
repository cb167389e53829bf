import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import type { Inventory } from '@metal/redfish/resources/inventory.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { isInventoryReported, wasIncomplete } from '../../inventory-condition.ts';
import { inventoryFields, networkInterfacesBefore } from './hardware-fields.ts';

export interface HardwareFacts {
  /** What this process read from the BMC and the status does not hold yet. */
  readonly hardware: Inventory | undefined;
  /** Some resources could not be read the last time. */
  readonly hardwareIncomplete: boolean;
  readonly hardwareSeenMsAgo: number | undefined;
  /** The hardware was read once, by this process or by an earlier one. */
  readonly inventoryRead: boolean;
}

export function hardwareFacts(
  server: Server,
  { inventory }: Pick<ObservedSystem, 'inventory'>,
  now: number,
): HardwareFacts {
  const hardware = inventory?.value;
  return {
    hardware,
    hardwareIncomplete: hardware === undefined ? wasIncomplete(server) : hardware.missing.length > 0,
    hardwareSeenMsAgo: inventory === undefined ? undefined : now - inventory.at,
    inventoryRead:
      hardware !== undefined || server.status?.processors !== undefined || server.status?.manufacturer !== undefined,
  };
}

/** The status holds all of it. */
export function isReported(server: Server, hardware: Inventory, report: ProbeReport | undefined): boolean {
  const { status } = server;
  const networkInterfaces =
    report === undefined ? networkInterfacesBefore(server, hardware) : status?.networkInterfaces;
  const reported = { ...status, ...inventoryFields(hardware, status), networkInterfaces };
  return isSameJson(status, reported) && isInventoryReported(server, hardware.missing);
}

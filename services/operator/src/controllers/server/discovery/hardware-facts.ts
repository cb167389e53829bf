import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import type { Inventory } from '@metal/redfish/resources/inventory.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { isInventoryReported } from '../../inventory-condition.ts';
import { fieldsOf, networkInterfacesBefore } from './hardware-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

/**
 * What was read of the hardware and the status does not say yet. What it says is forgotten, as it is 6 to 18 kB for each server;
 * when it was read is not.
 */
export function unreportedHardware(
  server: Server,
  memory: Pick<ObservedSystem, 'inventory'>,
  report?: ProbeReport,
): Inventory | undefined {
  const { status } = server;
  const { value, at } = memory.inventory ?? {};
  if (value === undefined || at === undefined) return undefined;
  const networkInterfaces =
    report === undefined ? networkInterfacesBefore(server, { hardware: value }) : status?.networkInterfaces;
  const reported = { ...status, ...fieldsOf(value, status), networkInterfaces };
  if (!isSameJson(status, reported) || !isInventoryReported(server, value.missing)) return value;
  memory.inventory = { at };
  return undefined;
}

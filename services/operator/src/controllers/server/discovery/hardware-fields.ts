import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { Inventory } from '@metal/redfish/resources/inventory.ts';
import { wasIncomplete } from '../../inventory-condition.ts';
import { keepUnreadParts } from './unread-parts.ts';
import { replacementOf } from '../replacement/facts.ts';

type Status = NonNullable<Server['status']>;

/** Parts that could not be read stay as they are in the status. */
export function inventoryFields(inventory: Inventory, before: Status | undefined): Partial<Status> {
  const { system } = inventory;
  return {
    manufacturer: system.manufacturer,
    model: system.model,
    sku: system.sku,
    serialNumber: system.serialNumber,
    biosVersion: system.biosVersion,
    totalSystemMemory: memoryOf(inventory, before),
    ...keepUnreadParts(partsOf(inventory), inventory.missing, before),
  };
}

/** A sum without unreadable modules would be too small. */
function memoryOf({ system: { memoryGiB }, missing }: Inventory, before: Status | undefined): string | undefined {
  const isIncomplete = missing.some(({ part }) => part === 'memory');
  if (memoryGiB === undefined || (isIncomplete && before?.totalSystemMemory !== undefined))
    return isIncomplete ? before?.totalSystemMemory : undefined;
  return binaryQuantity(Math.round(memoryGiB * 2 ** 10) * 2 ** 20);
}

/** Without CapacityBytes, as for an empty bay, the capacity is "0": programs for v0.7.0 expect the field. */
function partsOf({ processors, storages }: Inventory): Pick<Status, 'processors' | 'storages'> {
  return {
    processors: processors.map(
      ({ id, type, architecture, instructionSet, manufacturer, model, maxSpeedMHz, totalCores, totalThreads }) => ({
        id,
        type,
        architecture,
        instructionSet,
        manufacturer,
        model,
        maxSpeedMHz,
        totalCores,
        totalThreads,
      }),
    ),
    storages: storages.map(({ name, drives, volumes }) => ({
      name,
      drives: drives.map(({ capacityBytes = 0, name: driveName, mediaType, type, vendor, model, state }) => ({
        name: driveName,
        mediaType,
        type,
        vendor,
        model,
        state,
        capacity: binaryQuantity(capacityBytes),
      })),
      volumes: volumes.map(({ capacityBytes = 0, ...volume }) => ({
        ...volume,
        capacity: binaryQuantity(capacityBytes),
      })),
    })),
  };
}

/** Canonical Kubernetes quantity: the largest binary suffix that leaves a whole number. */
function binaryQuantity(bytes: number): string {
  const suffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];
  let value = bytes;
  let step = 0;
  while (value !== 0 && value % 1_024 === 0 && step < suffixes.length - 1) {
    value /= 1_024;
    step += 1;
  }
  return `${value}${suffixes[step]}`;
}

/**
 * Before the first report of the probe: the interfaces of the status, and those that the BMC lists only now. Known ones are
 * not removed: DHCP and the boot service may just be serving them.
 */
export function networkInterfacesBefore(server: Server, hardware: Inventory | undefined): Status['networkInterfaces'] {
  // Those of a mainboard that was replaced do not count.
  const known = replacementOf(server) === 'accepted' ? undefined : server.status?.networkInterfaces;
  const cards = networkInterfacesOfBmc(hardware);
  if (known === undefined || cards === undefined || !wasIncomplete(server)) return known ?? cards;
  const addresses = new Set(known.map(({ macAddress }) => macAddress));
  return [...known, ...cards.filter(({ macAddress }) => !addresses.has(macAddress))];
}

/** DHCP and the boot service recognise the machine by these addresses. */
function networkInterfacesOfBmc(hardware: Inventory | undefined): Status['networkInterfaces'] {
  const cards = hardware?.networkInterfaces.flatMap(({ id, name, macAddress }) =>
    macAddress === undefined ? [] : [{ name: name ?? id ?? macAddress, macAddress }],
  );
  // Some BMCs list them only after the first start of the machine.
  return cards?.length === 0 ? undefined : cards;
}

/** The interfaces of a probe report, with their LLDP neighbours. */
export function networkInterfacesOf(report: ProbeReport): NonNullable<Status['networkInterfaces']> {
  const neighbours = new Map(report.lldp.map(({ name, neighbors }) => [name, neighbors]));
  return report.networkInterfaces.map(({ name, macAddress, carrierStatus, ipAddresses, ipAddress }) => ({
    name,
    macAddress,
    carrierStatus,
    ips: (ipAddresses.length > 0 ? ipAddresses : [ipAddress ?? '']).filter((ip) => ip !== ''),
    neighbors: neighbours.get(name)?.map(({ chassisId, portId, portDescription, systemName, systemDescription }) => ({
      macAddress: chassisId,
      portID: portId,
      portDescription,
      systemName,
      systemDescription,
    })),
  }));
}

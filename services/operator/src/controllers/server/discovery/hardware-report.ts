import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { Inventory } from '@metal/redfish/resources/inventory.ts';
import { wasIncomplete } from '../../inventory-condition.ts';
import type { ServerFacts } from '../types.ts';
import { keepUnreadParts } from './unread-parts.ts';

type Status = NonNullable<Server['status']>;

/** Hardware as the BMC tells it. What this process has not read itself stays as an earlier one reported it. */
export function hardwareFields({ status }: Server, { hardware, led, bootTargets }: ServerFacts): Partial<Status> {
  const seen = {
    indicatorLED: led ?? status?.indicatorLED,
    bootTargets: bootTargets === undefined ? status?.bootTargets : [...bootTargets],
  };
  const kept = {
    manufacturer: status?.manufacturer,
    model: status?.model,
    sku: status?.sku,
    serialNumber: status?.serialNumber,
    biosVersion: status?.biosVersion,
    totalSystemMemory: status?.totalSystemMemory,
    processors: status?.processors,
    storages: status?.storages,
    ...seen,
  };
  return hardware === undefined ? kept : { ...kept, ...fieldsOf(hardware, status), ...seen };
}

/** Of a machine: what could not be read of it stays as it is in the status. */
export function fieldsOf(inventory: Inventory, before: Status | undefined): Partial<Status> {
  const { system } = inventory;
  return {
    manufacturer: system.manufacturer,
    model: system.model,
    sku: system.sku,
    serialNumber: system.serialNumber,
    biosVersion: system.biosVersion,
    totalSystemMemory:
      system.memoryGiB === undefined ? undefined : binaryQuantity(Math.round(system.memoryGiB * 2 ** 10) * 2 ** 20),
    ...keepUnreadParts(partsOf(inventory), inventory.missing, before),
  };
}

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
      drives: drives.map(({ capacityBytes, ...drive }) => ({ ...drive, capacity: quantityOrNone(capacityBytes) })),
      volumes: volumes.map(({ capacityBytes, ...volume }) => ({ ...volume, capacity: quantityOrNone(capacityBytes) })),
    })),
  };
}

const quantityOrNone = (bytes: number | undefined): string | undefined =>
  bytes === undefined ? undefined : binaryQuantity(bytes);

/** Canonical Kubernetes quantity: the largest binary suffix that leaves a whole number. */
export function binaryQuantity(bytes: number): string {
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
 * Before the first report of the probe: as they were told, and those that could not be read when they were. None that are known
 * is taken away: DHCP and the boot service may be at work for it.
 */
export function networkInterfacesBefore(
  server: Server,
  facts: Pick<ServerFacts, 'hardware'>,
): Status['networkInterfaces'] {
  const known = server.status?.networkInterfaces;
  const cards = networkInterfacesOfBmc(facts);
  if (known === undefined || cards === undefined || !wasIncomplete(server)) return known ?? cards;
  const addresses = new Set(known.map(({ macAddress }) => macAddress));
  return [...known, ...cards.filter(({ macAddress }) => !addresses.has(macAddress))];
}

/** What DHCP and the boot service know the machine by. */
function networkInterfacesOfBmc({ hardware }: Pick<ServerFacts, 'hardware'>): Status['networkInterfaces'] {
  const cards = hardware?.networkInterfaces.flatMap(({ id, name, macAddress }) =>
    macAddress === undefined ? [] : [{ name: name ?? id ?? macAddress, macAddress }],
  );
  // Some BMCs learn of them from the first start of the machine only.
  return cards?.length === 0 ? undefined : cards;
}

/** Interfaces as the probe saw them, with their LLDP neighbours. */
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

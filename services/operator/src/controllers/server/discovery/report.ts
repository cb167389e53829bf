import type { Server } from '@metal/api/v1alpha1/server.ts';
import { condition, type ReportedCondition } from '../../ready-condition.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import { inventoryFields, networkInterfacesBefore, networkInterfacesOf } from './hardware-fields.ts';

type Status = NonNullable<Server['status']>;

/** The hardware as the BMC and the probe report it. What this process has not read itself stays as it is in the status. */
export function hardwareFields(
  server: Server,
  { hardware, led, bootTargets, inventory, biosVersion, bmcVersion }: ServerFacts,
): Partial<Status> {
  const { status } = server;
  return {
    manufacturer: status?.manufacturer,
    model: status?.model,
    sku: status?.sku,
    serialNumber: status?.serialNumber,
    biosVersion: status?.biosVersion,
    totalSystemMemory: status?.totalSystemMemory,
    processors: status?.processors,
    storages: status?.storages,
    ...(hardware === undefined ? {} : inventoryFields(hardware, status)),
    ...(biosVersion === undefined ? {} : { biosVersion }),
    bmcVersion: bmcVersion ?? status?.bmcVersion,
    indicatorLED: led ?? status?.indicatorLED,
    bootTargets: bootTargets === undefined ? status?.bootTargets : [...bootTargets],
    networkInterfaces:
      inventory === undefined ? networkInterfacesBefore(server, hardware) : networkInterfacesOf(inventory.spec.report),
  };
}

const discoveredPhases: readonly ServerPhase[] = [
  'Available',
  'Reserved',
  'Released',
  'Cleanup',
  'Decommissioning',
  'Decommissioned',
];

/** Counts entries into Discovery since the last success, so that a server that never reports ends in Error. */
export function attemptsAfter({ status }: Server, { discoveryAttempts }: ServerFacts, phase: ServerPhase): number {
  if (phase === 'Discovery') return status?.state === 'Discovery' ? discoveryAttempts : discoveryAttempts + 1;
  return discoveredPhases.includes(phase) ? 0 : discoveryAttempts;
}

export function discoveredCondition(
  server: Server,
  { inventory, isUndiscovered }: ServerFacts,
  phase: ServerPhase,
): ReportedCondition {
  if (isUndiscovered)
    return condition(server, 'Discovered', 'False', {
      reason: 'Adopted',
      message: 'a claim adopted the machine as it was, without a discovery; it is discovered after its release',
    });
  if (discoveredPhases.includes(phase) || inventory !== undefined)
    return condition(server, 'Discovered', 'True', {
      reason: 'InventoryReported',
      message: 'the probe reported the hardware',
    });
  return condition(server, 'Discovered', 'False', {
    reason: phase === 'Error' ? 'DiscoveryFailed' : 'NotYetReported',
    message: 'no report of the probe yet',
  });
}

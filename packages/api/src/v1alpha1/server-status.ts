import { hinted } from '@metal/kube/cel.ts';
import * as z from 'zod';
import { conditions } from '../common/conditions.ts';
import { quantity } from '../common/quantity.ts';
import { int32, time } from '../common/scalars.ts';

const optionalText = (description: string) => z.string().optional().describe(description);

const processor = z.object({
  id: z.string().describe('Name of the processor on its BMC.'),
  type: optionalText('CPU, GPU, FPGA, …'),
  architecture: optionalText('Architecture.'),
  instructionSet: optionalText('Instruction set.'),
  manufacturer: optionalText('Manufacturer.'),
  model: optionalText('Model.'),
  maxSpeedMHz: int32.optional().describe('Highest clock rate.'),
  totalCores: int32.optional().describe('Cores.'),
  totalThreads: int32.optional().describe('Hardware threads.'),
});

const drive = z.object({
  name: optionalText('Name on the controller.'),
  mediaType: optionalText('SSD, HDD, …'),
  type: optionalText('Protocol of the drive: NVMe, SATA, SAS, …'),
  capacity: quantity.optional().describe('Capacity.'),
  vendor: optionalText('Manufacturer.'),
  model: optionalText('Model.'),
  state: optionalText('State that the BMC reports.'),
});

const volume = z.object({
  name: optionalText('Name on the controller.'),
  capacity: quantity.optional().describe('Capacity.'),
  raidType: optionalText('RAID level.'),
  state: optionalText('State that the BMC reports.'),
  volumeUsage: optionalText('What the volume is for.'),
});

const storage = z.object({
  name: optionalText('Name of the storage controller.'),
  state: optionalText('State that the BMC reports.'),
  volumes: z.array(volume).optional().describe('Volumes made of the drives.'),
  drives: z.array(drive).optional().describe('Drives behind the controller.'),
});

const neighbor = z.object({
  macAddress: optionalText('Chassis ID of the neighbour, mostly a MAC address.'),
  portID: optionalText('Port of the neighbour.'),
  portDescription: optionalText('Description of that port.'),
  systemName: optionalText('Name of the neighbour.'),
  systemDescription: optionalText('Description of the neighbour.'),
});

const networkInterface = z.object({
  name: z.string().describe('Name in the operating system of the probe.'),
  macAddress: z.string().describe('MAC address; empty if the interface has none.'),
  ip: optionalText('Deprecated: see ips.'),
  ips: z
    .array(hinted(z.string(), { format: 'ip' }))
    .optional()
    .describe('Addresses.'),
  carrierStatus: optionalText('up with a link, else down.'),
  neighbors: z.array(neighbor).optional().describe('What LLDP told about the other end of the cable.'),
});

/** The states of a server, in the order of its life. */
export const serverStates = [
  'Initial',
  'Discovery',
  'Available',
  'Reserved',
  'Released',
  'Cleanup',
  'Maintenance',
  'Parked',
  'Error',
] as const;

export const serverStatus = z.object({
  manufacturer: optionalText('Manufacturer.'),
  model: optionalText('Model.'),
  sku: optionalText('Stock keeping unit.'),
  serialNumber: optionalText('Serial number.'),
  biosVersion: optionalText('Version of the system firmware.'),
  totalSystemMemory: quantity.optional().describe('Memory.'),
  processors: z.array(processor).optional().describe('Processors, as the BMC reports them.'),
  storages: z.array(storage).optional().describe('Storage controllers with their drives and volumes.'),
  networkInterfaces: z.array(networkInterface).optional().describe('Network interfaces, as the probe saw them.'),
  powerState: optionalText('Power state last seen: On, Off, Paused, PoweringOn, PoweringOff or Unknown.'),
  powerObservedAt: time.optional().describe('When the power state was last seen to change.'),
  indicatorLED: optionalText('What the locator light does.'),
  state: z.enum(serverStates).optional().describe('Where the server stands in its life.'),
  stateSince: time.optional().describe('When it got there.'),
  discoveryAttempts: int32.optional().describe('Discoveries started since the last one that succeeded.'),
  provisionedClaimUID: optionalText(
    'UID of the claim whose image the machine has booted. It is not booted from the network again for that claim.',
  ),
  conditions: conditions.optional().describe('Ready says what the server waits for.'),
});

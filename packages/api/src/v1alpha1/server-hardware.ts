import * as z from 'zod';
import { int32, quantity } from '../common/fields.ts';

/** Hardware in the status of a Server. */

export const processor = z.object({
  id: z.string().describe('Redfish Id.'),
  type: z.string().optional().describe('Processor type, for example CPU or GPU.'),
  architecture: z.string().optional().describe('Architecture, for example x86 or ARM.'),
  instructionSet: z.string().optional().describe('Instruction set, for example x86-64.'),
  manufacturer: z.string().optional().describe('Manufacturer.'),
  model: z.string().optional().describe('Model.'),
  maxSpeedMHz: int32().optional().describe('Maximum clock rate, in MHz.'),
  totalCores: int32().optional().describe('Number of cores.'),
  totalThreads: int32().optional().describe('Number of hardware threads.'),
});

export const storage = z.object({
  name: z.string().optional().describe('Name of the controller.'),
  state: z.string().optional().describe('State.'),
  volumes: z
    .array(
      z.object({
        name: z.string().optional().describe('Name of the volume.'),
        capacity: quantity().optional().describe('Capacity.'),
        state: z.string().optional().describe('State.'),
        raidType: z.string().optional().describe('RAID level.'),
        volumeUsage: z.string().optional().describe('Volume usage (Redfish VolumeUsage).'),
      }),
    )
    .optional()
    .describe('Volumes of the controller.'),
  drives: z
    .array(
      z.object({
        name: z.string().optional().describe('Name of the drive.'),
        mediaType: z.string().optional().describe('Media type, for example SSD or HDD.'),
        type: z.string().optional().describe('Drive form factor.'),
        capacity: quantity().optional().describe('Capacity.'),
        vendor: z.string().optional().describe('Manufacturer.'),
        model: z.string().optional().describe('Model.'),
        state: z.string().optional().describe('State.'),
      }),
    )
    .optional()
    .describe('Drives of the controller.'),
});

export const networkInterface = z.object({
  name: z.string().describe('Kernel device name.'),
  macAddress: z.string().describe('MAC address. May be empty.'),
  ip: z.string().optional().describe('First IP address. Deprecated: use ips.'),
  ips: z.array(z.string()).optional().describe('IP addresses at the time of the report.'),
  carrierStatus: z.string().optional().describe('Carrier: up or down.'),
  neighbors: z
    .array(
      z.object({
        macAddress: z.string().optional().describe('LLDP chassis ID.'),
        portID: z.string().optional().describe('LLDP port ID.'),
        portDescription: z.string().optional().describe('LLDP port description.'),
        systemName: z.string().optional().describe('LLDP system name.'),
        systemDescription: z.string().optional().describe('LLDP system description.'),
      }),
    )
    .optional()
    .describe('LLDP neighbours.'),
});

export const mainVersions = () => ({
  biosVersion: z.string().optional().describe('BIOS version.'),
  bmcVersion: z.string().optional().describe('Firmware version of the BMC in spec.bmcRef.'),
});

export const mainVersionColumns = {
  BIOSVersion: { path: '.status.biosVersion', priority: 100 },
  BMCVersion: { path: '.status.bmcVersion', priority: 100 },
} as const;

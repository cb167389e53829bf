import * as z from 'zod';
import { int32, int64 } from '../common/fields.ts';
import { looseMacAddress } from './fields.ts';

const vlanId = () => int32().min(0).max(4_094);

const nic = () =>
  z.object({
    ip: z.string().optional().describe('IPv4 or IPv6 address. An interface with both has two entries.'),
    lldp: z
      .object({
        portID: z.string().optional().describe('Port ID of the switch.'),
        switchID: z.string().optional().describe('Chassis ID of the switch.'),
        switchSystemName: z.string().optional().describe('System name of the switch.'),
      })
      .optional()
      .describe('LLDP neighbour.'),
    mac: looseMacAddress().optional().describe('MAC address.'),
    model: z.string().optional().describe('Vendor and product ID.'),
    name: z.string().optional().describe('Name in the ramdisk, for example eno1.'),
    pciAddress: z.string().optional().describe('PCI address.'),
    pxe: z.boolean().optional().describe('The machine boots from this interface.'),
    speedGbps: z.int().optional().describe('Speed in gigabits per second.'),
    vlanId: vlanId().optional().describe('Untagged VLAN.'),
    vlans: z
      .array(
        z.object({
          id: vlanId().optional().describe('VLAN ID.'),
          name: z.string().optional().describe('Name of the VLAN.'),
        }),
      )
      .optional()
      .describe('VLANs that the switch offers.'),
  });

const storage = () =>
  z.object({
    alternateNames: z.array(z.string()).optional().describe('Other names, for example below /dev/disk/by-path.'),
    hctl: z.string().optional().describe('SCSI address, as host:channel:target:lun.'),
    model: z.string().optional().describe('Model.'),
    name: z.string().optional().describe('Name, preferably one that survives a restart.'),
    rotational: z.boolean().optional().describe('The disk rotates. See also type.'),
    serialNumber: z.string().optional().describe('Serial number.'),
    sizeBytes: int64().optional().describe('Size in bytes.'),
    type: z.enum(['HDD', 'SSD', 'NVME']).optional().describe('Type: HDD, SSD or NVME.'),
    vendor: z.string().optional().describe('Vendor.'),
    wwn: z.string().optional().describe('World wide name.'),
    wwnVendorExtension: z.string().optional().describe('Vendor extension of the world wide name.'),
    wwnWithExtension: z.string().optional().describe('World wide name with its vendor extension.'),
  });

/** Result of an inspection: status.hardware of a BareMetalHost, spec.hardware of HardwareData. */
export const hardwareDetails = () =>
  z.object({
    cpu: z
      .object({
        arch: z.string().optional().describe('Architecture, for example x86_64.'),
        clockMegahertz: z.number().meta({ format: 'double' }).optional().describe('Clock rate in megahertz.'),
        count: z.int().optional().describe('Number of logical processors.'),
        flags: z.array(z.string()).optional().describe('Flags, sorted.'),
        model: z.string().optional().describe('Model.'),
      })
      .optional()
      .describe('Processors.'),
    firmware: z
      .object({
        bios: z
          .object({
            date: z.string().optional().describe('Date of the build.'),
            vendor: z.string().optional().describe('Vendor.'),
            version: z.string().optional().describe('Version.'),
          })
          .optional()
          .describe('BIOS.'),
      })
      .optional()
      .describe('System firmware.'),
    hostname: z.string().optional().describe('Host name of the ramdisk.'),
    nics: z.array(nic()).optional().describe('Network interfaces: one entry per address.'),
    ramMebibytes: z.int().optional().describe('Memory in mebibytes.'),
    storage: z.array(storage()).optional().describe('Disks.'),
    systemVendor: z
      .object({
        manufacturer: z.string().optional().describe('Manufacturer.'),
        productName: z.string().optional().describe('Product name.'),
        serialNumber: z.string().optional().describe('Serial number.'),
      })
      .optional()
      .describe('Vendor of the machine.'),
  });
export type HardwareDetails = z.output<ReturnType<typeof hardwareDetails>>;

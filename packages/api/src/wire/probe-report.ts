import * as z from 'zod';
import { time } from '../common/fields.ts';

/** Probes omit empty fields, and old probes send numbers in place of text. */
const text = (description: string) => z.coerce.string<string>().default('').describe(description);
const texts = (description: string) => z.array(z.string()).default([]).describe(description);
const flag = (description: string) => z.boolean().default(false).describe(description);
const whole = () => z.coerce.number<number>().int();
const count = (description: string) => whole().meta({ format: 'int32' }).default(0).describe(description);
const bytes = (description: string) => whole().meta({ format: 'int64' }).default(0).describe(description);
const numaNode = () => whole().meta({ format: 'int32' }).default(-1).describe('NUMA node; -1 when unknown.');
const listOf = <S extends z.ZodType>(element: S) => z.array(element).default([]);

const biosInformation = z.object({
  vendor: text('Firmware vendor.'),
  version: text('Firmware version.'),
  date: text('Firmware release date, in the format of the firmware.'),
});
const systemInformation = z.object({
  manufacturer: text('Manufacturer of the machine.'),
  productName: text('Product name.'),
  version: text('Version of the product.'),
  serialNumber: text('Serial number of the machine.'),
  uuid: text('UUID of the machine.'),
  skuNumber: text('Manufacturer SKU.'),
  family: text('Product family.'),
});
const boardInformation = z.object({
  manufacturer: text('Manufacturer of the board.'),
  product: text('Product name.'),
  version: text('Version of the board.'),
  serialNumber: text('Serial number of the board.'),
  assetTag: text('Asset tag, set by the owner.'),
});

const processor = z.object({
  id: count('Number of the socket.'),
  totalCores: count('Number of cores.'),
  totalHardwareThreads: count('Number of hardware threads.'),
  vendor: text('Manufacturer.'),
  model: text('Model.'),
  capabilities: texts('Instruction set extensions, by kernel name.'),
});

const networkInterface = z.object({
  name: text('Kernel device name.'),
  macAddress: text('MAC address. May be empty.'),
  carrierStatus: text('Carrier: up or down.'),
  ipAddresses: texts('IP addresses without prefix length, without loopback addresses.'),
  ipAddress: z.string().optional().describe('One IP address, from probes without support for ipAddresses.'),
});

const neighbor = z.object({
  chassisId: text('LLDP chassis ID, usually a MAC address.'),
  portId: text('LLDP port ID.'),
  portDescription: text('LLDP port description.'),
  systemName: text('System name of the neighbour.'),
  systemDescription: text('System description of the neighbour.'),
  mgmtIp: text('Management address of the neighbour.'),
  capabilities: texts('Enabled capabilities of the neighbour, for example Bridge or Router.'),
  vlanId: text('VLAN ID of the port.'),
});

/** 32-bit integers, absent if unknown: 0 would be a measured value. */
const measure = (description: string) => whole().meta({ format: 'int32' }).optional().describe(description);

const health = z.object({
  status: z
    .enum(['passed', 'failed', 'unknown'])
    .describe('SMART overall health: passed, failed or unknown (not reported).'),
  temperatureCelsius: measure('Temperature, in degrees Celsius.'),
  powerOnHours: measure('Power-on time, in hours.'),
  percentageUsed: measure('Used endurance, in percent. Can be more than 100.'),
});

const disk = z.object({
  path: text('Bus path of the disk.'),
  name: text('Kernel device name.'),
  rotational: flag('True for a rotational disk.'),
  removable: flag('True for a removable medium.'),
  readOnly: flag('True for a read-only disk.'),
  vendor: text('Manufacturer.'),
  model: text('Model.'),
  serial: text('Serial number.'),
  wwid: text('World wide ID (WWID), if the disk has one.'),
  physicalBlockSize: bytes('Physical block size, in bytes.'),
  logicalBlockSize: bytes('Logical block size, in bytes.'),
  hWSectorSize: bytes('Hardware sector size, in bytes.'),
  sizeBytes: bytes('Size in bytes.'),
  numaNodeID: numaNode(),
  hctl: z.string().max(64).optional().describe('SCSI address (host:channel:target:LUN), from probes that report it.'),
  health: health.optional().describe('SMART health, from probes that support it.'),
});

const memoryDevice = z.object({
  size: bytes('Size in bytes.'),
  deviceSet: text('Device set: modules that must be of the same type and size.'),
  deviceLocator: text('Slot, as labelled on the board.'),
  bankLocator: text('Bank of the slot.'),
  memoryType: text('Memory type, for example DDR5.'),
  speed: text('Maximum speed, in MT/s.'),
  vendor: text('Manufacturer.'),
  serialNumber: text('Serial number.'),
  assetTag: text('Asset tag.'),
  partNumber: text('Part number.'),
  configuredMemorySpeed: text('Configured speed, in MT/s.'),
  minimumVoltage: text('Minimum voltage, in mV.'),
  maximumVoltage: text('Maximum voltage, in mV.'),
  configuredVoltage: text('Configured voltage, in mV.'),
});

const nic = z.object({
  name: text('Kernel device name.'),
  mac: text('MAC address.'),
  pciAddress: text('PCI address, or unknown.'),
  speed: text('Link speed, for example 25000Mb/s.'),
  linkModes: texts('Supported link modes.'),
  supportedPorts: texts('Supported port types.'),
  firmwareVersion: text('Firmware version.'),
});

const pciDevice = z.object({
  address: text('PCI address: domain, bus, device and function.'),
  vendor: text('Vendor name, if known to the probe.'),
  vendorID: text('PCI vendor ID, in hex.'),
  product: text('Product name, if known to the probe.'),
  productID: text('PCI device ID, in hex.'),
  numaNodeID: numaNode(),
});

const systemInfo = z.object({
  biosInformation: biosInformation.prefault({}).describe('Firmware image.'),
  systemInformation: systemInformation.prefault({}).describe('Machine.'),
  boardInformation: boardInformation.prefault({}).describe('Main board.'),
});

const boot = z.object({
  mode: z.enum(['UEFI', 'BIOS']).describe('Firmware boot mode of the discovery system: UEFI or BIOS.'),
  secureBoot: z
    .enum(['enabled', 'disabled', 'unsupported'])
    .describe('UEFI Secure Boot: enabled, disabled or unsupported.'),
});

const lldpInterface = z.object({
  name: text('Local network interface.'),
  neighbors: listOf(neighbor).describe('LLDP neighbours.'),
});

/** The hardware inventory. Every list is present, even if empty. */
export const probeReport = z.object({
  timestamp: time().optional().describe('Time of the inventory.'),
  systemInfo: systemInfo.prefault({}).describe('SMBIOS information.'),
  boot: boot.optional().describe('Boot mode of the machine, from probes that support it.'),
  cpu: listOf(processor).describe('Processors, one per socket.'),
  networkInterfaces: listOf(networkInterface).describe('Network interfaces of the kernel.'),
  lldp: listOf(lldpInterface).describe('LLDP neighbours, by interface.'),
  storage: listOf(disk).describe('Disks.'),
  memory: listOf(memoryDevice).describe('Memory modules.'),
  nics: listOf(nic).describe('Network cards.'),
  pciDevices: listOf(pciDevice).describe('PCI functions.'),
});
export type ProbeReport = z.output<typeof probeReport>;
/** A report before defaults are filled in. */
export type ProbeReportInput = z.input<typeof probeReport>;

/** Body of `POST /register`. Null means absent everywhere (Go encodes empty lists as null); unknown fields are dropped. */
export const registration = z.preprocess(withoutNulls, z.object({ systemUUID: z.string().min(1), data: probeReport }));
export type Registration = z.output<typeof registration>;

/** Body of `POST /bootstate`. */
export const bootState = z.object({ systemUUID: z.string().min(1), booted: z.boolean() });
export type BootState = z.output<typeof bootState>;

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((element) => element !== null).map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(entries.map(([key, field]) => [key, withoutNulls(field)]));
}

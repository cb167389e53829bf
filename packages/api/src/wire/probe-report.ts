import * as z from 'zod';
import { time } from '../common/fields.ts';

/** Probes leave out what is empty, and old ones send numbers where others send text. */
const text = (description: string) => z.coerce.string<string>().default('').describe(description);
const texts = (description: string) => z.array(z.string()).default([]).describe(description);
const flag = (description: string) => z.boolean().default(false).describe(description);
const whole = () => z.coerce.number<number>().int();
const count = (description: string) => whole().meta({ format: 'int32' }).default(0).describe(description);
const bytes = (description: string) => whole().meta({ format: 'int64' }).default(0).describe(description);
const numaNode = () => whole().meta({ format: 'int32' }).default(-1).describe('NUMA node; -1 when unknown.');
const listOf = <S extends z.ZodType>(element: S) => z.array(element).default([]);

const biosInformation = z.object({
  vendor: text('Who made the firmware.'),
  version: text('Its version.'),
  date: text('Its date, as the firmware writes it.'),
});
const systemInformation = z.object({
  manufacturer: text('Who made the machine.'),
  productName: text('What its maker calls it.'),
  version: text('Version of the product.'),
  serialNumber: text('Serial number of the machine.'),
  uuid: text('UUID of the machine.'),
  skuNumber: text('Stock number of its maker.'),
  family: text('Family of products it belongs to.'),
});
const boardInformation = z.object({
  manufacturer: text('Who made the board.'),
  product: text('What its maker calls it.'),
  version: text('Version of the board.'),
  serialNumber: text('Serial number of the board.'),
  assetTag: text('Asset tag that its owner gave it.'),
});

const processor = z.object({
  id: count('Number of the socket.'),
  totalCores: count('Cores.'),
  totalHardwareThreads: count('Hardware threads.'),
  vendor: text('Who made it.'),
  model: text('What it is.'),
  capabilities: texts('Extensions of the instruction set, as the kernel names them.'),
});

const networkInterface = z.object({
  name: text('Name the kernel gives it.'),
  macAddress: text('Its MAC address; may be empty.'),
  carrierStatus: text('up or down.'),
  ipAddresses: texts('Addresses without prefix length; none of the loopback.'),
  ipAddress: z.string().optional().describe('One address, from probes that know no list.'),
});

const neighbor = z.object({
  chassisId: text('Identity of the neighbour, mostly a MAC address.'),
  portId: text('Its port.'),
  portDescription: text('What the port is called.'),
  systemName: text('Name of the neighbour.'),
  systemDescription: text('What the neighbour is.'),
  mgmtIp: text('Address under which the neighbour is managed.'),
  capabilities: texts('What the neighbour is in use as, such as Bridge or Router.'),
  vlanId: text('VLAN of the port.'),
});

/** Whole numbers of 32 bits that are left out where they are not known: 0 would be a claim. */
const measure = (description: string) => whole().meta({ format: 'int32' }).optional().describe(description);

const health = z.object({
  status: z.enum(['passed', 'failed', 'unknown']).describe("The disk's own verdict; unknown when it gives none."),
  temperatureCelsius: measure('Temperature.'),
  powerOnHours: measure('Hours it has been on.'),
  percentageUsed: measure('How much of its endurance is used up; can be more than 100.'),
});

const disk = z.object({
  path: text('Path of the disk on its bus.'),
  name: text('Name the kernel gives it.'),
  rotational: flag('Whether it turns.'),
  removable: flag('Whether its medium can be taken out.'),
  readOnly: flag('Whether it refuses to be written.'),
  vendor: text('Who made it.'),
  model: text('What it is.'),
  serial: text('Serial number.'),
  wwid: text('Name that is unique in the world, where it has one.'),
  physicalBlockSize: bytes('Bytes of a physical block.'),
  logicalBlockSize: bytes('Bytes of a logical block.'),
  hWSectorSize: bytes('Bytes of a sector, as the hardware tells.'),
  sizeBytes: bytes('Size in bytes.'),
  numaNodeID: numaNode(),
  health: health.optional().describe('What the disk says of itself (SMART), from probes that ask.'),
});

const memoryDevice = z.object({
  size: bytes('Size in bytes.'),
  deviceSet: text('Set of modules that must be alike.'),
  deviceLocator: text('Slot, as it is printed on the board.'),
  bankLocator: text('Bank of the slot.'),
  memoryType: text('Such as DDR5.'),
  speed: text('Speed it is capable of, in MT/s.'),
  vendor: text('Who made it.'),
  serialNumber: text('Serial number.'),
  assetTag: text('Asset tag.'),
  partNumber: text('Part number.'),
  configuredMemorySpeed: text('Speed it runs at, in MT/s.'),
  minimumVoltage: text('Lowest voltage, in mV.'),
  maximumVoltage: text('Highest voltage, in mV.'),
  configuredVoltage: text('Voltage it runs at, in mV.'),
});

const nic = z.object({
  name: text('Name the kernel gives it.'),
  mac: text('Its MAC address.'),
  pciAddress: text('Its PCI address, or unknown.'),
  speed: text('Speed of the link.'),
  linkModes: texts('Link modes it is capable of.'),
  supportedPorts: texts('Kinds of ports it is capable of.'),
  firmwareVersion: text('Version of its firmware.'),
});

const pciDevice = z.object({
  address: text('Domain, bus, device and function.'),
  vendor: text('Who made it, where the probe knows the name.'),
  vendorID: text('Number of its maker, in hex.'),
  product: text('What it is, where the probe knows the name.'),
  productID: text('Number of the product, in hex.'),
  numaNodeID: numaNode(),
});

const systemInfo = z.object({
  biosInformation: biosInformation.prefault({}).describe('The firmware.'),
  systemInformation: systemInformation.prefault({}).describe('The machine.'),
  boardInformation: boardInformation.prefault({}).describe('The main board.'),
});

const boot = z.object({
  mode: z.enum(['UEFI', 'BIOS']).describe('How the firmware started the system that the probe ran in.'),
  secureBoot: z.enum(['enabled', 'disabled', 'unsupported']).describe('Whether the firmware checked who signed it.'),
});

const lldpInterface = z.object({
  name: text('Interface that heard them.'),
  neighbors: listOf(neighbor).describe('The neighbours.'),
});

/** What the probe found on the machine. Every list is there, if empty. */
export const probeReport = z.object({
  timestamp: time().optional().describe('When the probe looked.'),
  systemInfo: systemInfo.prefault({}).describe('Who made the machine and what it calls itself (SMBIOS).'),
  boot: boot.optional().describe('How the machine booted, from probes that tell.'),
  cpu: listOf(processor).describe('Processors, one per socket.'),
  networkInterfaces: listOf(networkInterface).describe('Network interfaces as the kernel sees them.'),
  lldp: listOf(lldpInterface).describe('Neighbours on the network, by interface.'),
  storage: listOf(disk).describe('Disks.'),
  memory: listOf(memoryDevice).describe('Memory modules.'),
  nics: listOf(nic).describe('Network cards.'),
  pciDevices: listOf(pciDevice).describe('PCI functions.'),
});
export type ProbeReport = z.output<typeof probeReport>;
/** What may be left out of a report that is sent. */
export type ProbeReportInput = z.input<typeof probeReport>;

/** Body of `POST /register`. Null counts as absent everywhere (Go writes empty lists so); unknown fields are dropped. */
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

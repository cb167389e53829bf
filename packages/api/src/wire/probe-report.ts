import * as z from 'zod';
import { time } from '../common/fields.ts';

/** Probes leave out what is empty, and old ones send numbers where others send text. */
const text = z.coerce.string<string>().default('');
const flag = z.boolean().default(false);
const whole = z.coerce.number<number>().int();
const count = whole.meta({ format: 'int32' }).default(0);
const bytes = whole.meta({ format: 'int64' }).default(0);
const numaNode = whole.meta({ format: 'int32' }).default(-1).describe('NUMA node; -1 when unknown.');
const listOf = <S extends z.ZodType>(element: S) => z.array(element).default([]);

const biosInformation = z.object({ vendor: text, version: text, date: text });
const systemInformation = z.object({
  manufacturer: text,
  productName: text,
  version: text,
  serialNumber: text,
  uuid: text,
  skuNumber: text,
  family: text,
});
const boardInformation = z.object({
  manufacturer: text,
  product: text,
  version: text,
  serialNumber: text,
  assetTag: text,
});

const processor = z.object({
  id: count.describe('Number of the socket.'),
  totalCores: count,
  totalHardwareThreads: count,
  vendor: text,
  model: text,
  capabilities: listOf(z.string()).describe('Instruction set extensions, as the kernel names them.'),
});

const networkInterface = z.object({
  name: text,
  macAddress: text,
  carrierStatus: text.describe('up or down.'),
  ipAddresses: listOf(z.string()).describe('Addresses without prefix length; none of the loopback.'),
  ipAddress: z.string().optional().describe('One address, from probes that know no list.'),
});

const neighbor = z.object({
  chassisId: text,
  portId: text,
  portDescription: text,
  systemName: text,
  systemDescription: text,
  mgmtIp: text,
  capabilities: listOf(z.string()),
  vlanId: text,
});

const disk = z.object({
  path: text.describe('Path of the disk on its bus.'),
  name: text,
  rotational: flag,
  removable: flag,
  readOnly: flag,
  vendor: text,
  model: text,
  serial: text,
  wwid: text,
  physicalBlockSize: bytes,
  logicalBlockSize: bytes,
  hWSectorSize: bytes,
  sizeBytes: bytes,
  numaNodeID: numaNode,
});

const memoryDevice = z.object({
  size: bytes.describe('Size in bytes.'),
  deviceSet: text,
  deviceLocator: text,
  bankLocator: text,
  memoryType: text,
  speed: text,
  vendor: text,
  serialNumber: text,
  assetTag: text,
  partNumber: text,
  configuredMemorySpeed: text,
  minimumVoltage: text,
  maximumVoltage: text,
  configuredVoltage: text,
});

const nic = z.object({
  name: text,
  mac: text,
  pciAddress: text,
  speed: text,
  linkModes: listOf(z.string()),
  supportedPorts: listOf(z.string()),
  firmwareVersion: text,
});

const pciDevice = z.object({
  address: text,
  vendor: text,
  vendorID: text,
  product: text,
  productID: text,
  numaNodeID: numaNode,
});

/** What the probe found on the machine. Every list is there, if empty. */
export const probeReport = z.object({
  timestamp: time().optional().describe('When the probe looked.'),
  systemInfo: z
    .object({
      biosInformation: biosInformation.prefault({}),
      systemInformation: systemInformation.prefault({}),
      boardInformation: boardInformation.prefault({}),
    })
    .prefault({})
    .describe('Who made the machine and what it calls itself (SMBIOS).'),
  cpu: listOf(processor).describe('Processors, one per socket.'),
  networkInterfaces: listOf(networkInterface).describe('Network interfaces as the kernel sees them.'),
  lldp: listOf(z.object({ name: text.describe('Network interface.'), neighbors: listOf(neighbor) })).describe(
    'Neighbours on the network, by interface.',
  ),
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

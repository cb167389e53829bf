import { createHash } from 'node:crypto';
import { type ProbeReport, probeReport } from '@metal/api/wire/probe-report.ts';
import type { VendorProfile } from './profiles.ts';

/** The parts of one machine, the same for the same seed and number. */
export interface Hardware {
  readonly uuid: string;
  readonly serialNumber: string;
  readonly sku: string;
  readonly memoryGiB: number;
  readonly processors: readonly Processor[];
  readonly dimms: readonly Dimm[];
  readonly disks: readonly Disk[];
  readonly nics: readonly Nic[];
}

export interface Processor {
  readonly id: string;
  readonly model: string;
  readonly manufacturer: string;
  readonly cores: number;
  readonly threads: number;
  readonly maxSpeedMHz: number;
}

export interface Dimm {
  readonly id: string;
  readonly sizeGiB: number;
  readonly manufacturer: string;
  readonly partNumber: string;
  readonly serialNumber: string;
}

export interface Disk {
  readonly id: string;
  readonly name: string;
  readonly model: string;
  readonly serialNumber: string;
  readonly bytes: number;
  readonly rotational: boolean;
}

export interface Nic {
  readonly id: string;
  readonly name: string;
  readonly macAddress: string;
  readonly pciAddress: string;
}

export const volumeId = 'Volume.0';
const dimmGiB = 32;
const dimmCount = 8;
const nicMacPrefix = 'B49691';

// Shared by all machines, so that a large fleet holds them once.
const processors: readonly Processor[] = ['CPU1', 'CPU2'].map((id) => ({
  id,
  model: 'Intel(R) Xeon(R) Gold 6430',
  manufacturer: 'Intel',
  cores: 32,
  threads: 64,
  maxSpeedMHz: 3_400,
}));

/** The parts of the machine with this number in a fleet. `part` numbers several machines of one BMC. */
export function makeHardware(seed: string, index: number, part = 0): Hardware {
  const digest = (what: string) => digestOf(`${seed}/${index}${part === 0 ? '' : `.${part}`}/${what}`);
  return {
    uuid: uuidFrom(digest('uuid')),
    serialNumber: digest('serial').slice(0, 10).toUpperCase(),
    sku: digest('sku').slice(0, 7).toUpperCase(),
    memoryGiB: dimmCount * dimmGiB,
    processors,
    dimms: Array.from({ length: dimmCount }, (_, slot) => dimm(slot, digest(`dimm${slot}`))),
    disks: [0, 1].map((number) => disk(number, digest(`disk${number}`))),
    nics: [0, 1].map((number) => ({
      id: `NIC.${number + 1}`,
      name: `eth${number}`,
      macAddress: macAddress(nicMacPrefix, index, part * 2 + number),
      pciAddress: `0000:3b:00.${number}`,
    })),
  };
}

const dimm = (slot: number, digest: string): Dimm => ({
  id: `DIMM${slot}`,
  sizeGiB: dimmGiB,
  manufacturer: 'Samsung',
  partNumber: 'M321R4GA3BB6-CQK',
  serialNumber: digest.slice(0, 8).toUpperCase(),
});

const disk = (number: number, digest: string): Disk => ({
  id: `Disk.${number}`,
  name: `nvme${number}n1`,
  model: 'NVMe 1.92TB',
  serialNumber: digest.slice(0, 12).toUpperCase(),
  bytes: 1_920_383_410_176,
  rotational: false,
});

/** Prefix, then the machine's number in two octets, then the interface: addresses of one fleet never collide. */
export function macAddress(prefix: string, index: number, part: number): string {
  const number = (index & 0xffff).toString(16).padStart(4, '0');
  const digits = `${prefix}${number}${(part & 0xff).toString(16).padStart(2, '0')}`.toLowerCase();
  return (digits.match(/../g) ?? []).join(':');
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A UUID of version 4 from a digest. */
export function uuidFrom(hex: string): string {
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join('-');
}

export interface ReportContext {
  readonly profile: VendorProfile;
  /** Address of the first interface. */
  readonly ipAddress: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The report of a probe on this machine; it matches the inventory of the BMC. */
export function reportOf(hardware: Hardware, { profile, ipAddress, now }: ReportContext): ProbeReport {
  return probeReport.parse({
    timestamp: new Date(now).toISOString().replace(/\.\d+Z$/, 'Z'),
    systemInfo: systemInfoOf(hardware, profile),
    cpu: hardware.processors.map(({ cores, threads, manufacturer, model }, id) => ({
      id,
      totalCores: cores,
      totalHardwareThreads: threads,
      vendor: manufacturer,
      model,
      capabilities: ['vmx', 'aes', 'avx2'],
    })),
    networkInterfaces: hardware.nics.map(({ name, macAddress: mac }, index) => ({
      name,
      macAddress: mac,
      carrierStatus: index === 0 ? 'up' : 'down',
      ipAddresses: index === 0 ? [ipAddress] : [],
    })),
    lldp: [{ name: 'eth0', neighbors: [neighborOf(hardware)] }],
    storage: disksSeenByProbe(hardware, profile),
    memory: hardware.dimms.map(({ id, sizeGiB, manufacturer, partNumber, serialNumber }) => ({
      deviceLocator: id,
      size: sizeGiB * 2 ** 30,
      memoryType: 'DDR5',
      speed: '4800 MT/s',
      vendor: manufacturer,
      partNumber,
      serialNumber,
    })),
    nics: hardware.nics.map(({ name, macAddress: mac, pciAddress }) => ({ name, mac, pciAddress, speed: '25000Mb/s' })),
    pciDevices: hardware.nics.map(({ pciAddress }) => ({
      address: pciAddress,
      vendor: 'Intel Corporation',
      vendorID: '8086',
      product: 'Ethernet Controller E810-XXV for SFP',
      productID: '159b',
      numaNodeID: 0,
    })),
  });
}

const systemInfoOf = ({ serialNumber, uuid, sku }: Hardware, { manufacturer, model, biosVersion }: VendorProfile) => ({
  biosInformation: { vendor: manufacturer, version: biosVersion, date: '01/01/2026' },
  systemInformation: { manufacturer, productName: model, serialNumber, uuid, skuNumber: sku },
  boardInformation: { manufacturer, product: model, serialNumber },
});

const neighborOf = ({ nics }: Hardware) => ({
  chassisId: '02:00:00:00:00:01',
  portId: `Ethernet${Number.parseInt(nics[0]?.macAddress.slice(-5).replace(':', '') ?? '0', 16)}`,
  systemName: 'leaf1',
  capabilities: ['Bridge', 'Router'],
});

function disksSeenByProbe({ disks }: Hardware, { mirrored }: VendorProfile) {
  const visible = mirrored ? disks.slice(0, 1).map((item) => ({ ...item, name: 'sda', model: 'Virtual Disk' })) : disks;
  return visible.map(({ name, model, serialNumber, bytes, rotational }, index) => ({
    path: `pci-0000:${(0x80 + index).toString(16)}:00.0-nvme-1`,
    name,
    model,
    serial: serialNumber,
    sizeBytes: bytes,
    rotational,
    logicalBlockSize: 512,
    physicalBlockSize: 4_096,
    numaNodeID: 0,
  }));
}

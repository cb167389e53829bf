import { createHash } from 'node:crypto';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import type { VendorProfile } from './profiles.ts';

/** One machine's parts, the same for the same seed and number. */
export interface Hardware {
  readonly uuid: string;
  readonly serialNumber: string;
  readonly sku: string;
  readonly memoryGiB: number;
  readonly processors: readonly {
    id: string;
    model: string;
    manufacturer: string;
    cores: number;
    threads: number;
    maxSpeedMHz: number;
  }[];
  readonly dimms: readonly { id: string; sizeGiB: number; serialNumber: string }[];
  readonly disks: readonly {
    id: string;
    name: string;
    model: string;
    serialNumber: string;
    bytes: number;
    rotational: boolean;
  }[];
  readonly nics: readonly { id: string; name: string; macAddress: string; pciAddress: string }[];
}

export function makeHardware(seed: string, index: number, { macPrefix }: VendorProfile): Hardware {
  const digest = (what: string) => createHash('sha256').update(`${seed}/${index}/${what}`).digest('hex');
  const dimms = Array.from({ length: 8 }, (_, slot) => ({
    id: `DIMM${slot}`,
    sizeGiB: 32,
    serialNumber: digest(`dimm${slot}`).slice(0, 8).toUpperCase(),
  }));
  return {
    uuid: uuidFrom(digest('uuid')),
    serialNumber: digest('serial').slice(0, 10).toUpperCase(),
    sku: digest('sku').slice(0, 7).toUpperCase(),
    memoryGiB: 256,
    processors: ['CPU1', 'CPU2'].map((id) => ({
      id,
      model: 'Xeon Gold 6430',
      manufacturer: 'Intel',
      cores: 32,
      threads: 64,
      maxSpeedMHz: 3_400,
    })),
    dimms,
    disks: [0, 1].map((number) => ({
      id: `Disk.${number}`,
      name: `nvme${number}n1`,
      model: 'NVMe 1.92TB',
      serialNumber: digest(`disk${number}`).slice(0, 12).toUpperCase(),
      bytes: 1_920_383_410_176,
      rotational: false,
    })),
    nics: [0, 1].map((number) => ({
      id: `NIC.${number + 1}`,
      name: `eth${number}`,
      macAddress: macAddress(macPrefix, index, number + 1),
      pciAddress: `0000:3b:00.${number}`,
    })),
  };
}

/** Prefix, then the machine's number in two octets, then the interface: addresses of one fleet never collide. */
export function macAddress(prefix: string, index: number, part: number): string {
  const digits =
    `${prefix}${(index & 0xffff).toString(16).padStart(4, '0')}${part.toString(16).padStart(2, '0')}`.toLowerCase();
  return (digits.match(/../g) ?? []).join(':');
}

function uuidFrom(hex: string): string {
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** What the probe finds on this machine from inside. */
export function reportOf(hardware: Hardware, profile: VendorProfile, ipAddress: string): ProbeReport {
  return probeReport.parse({
    timestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    systemInfo: {
      biosInformation: { vendor: profile.manufacturer, version: profile.biosVersion, date: '01/01/2026' },
      systemInformation: {
        manufacturer: profile.manufacturer,
        productName: profile.model,
        serialNumber: hardware.serialNumber,
        uuid: hardware.uuid,
        skuNumber: hardware.sku,
      },
      boardInformation: {
        manufacturer: profile.manufacturer,
        product: profile.model,
        serialNumber: hardware.serialNumber,
      },
    },
    cpu: hardware.processors.map(({ cores, threads, manufacturer, model }, id) => ({
      id,
      totalCores: cores,
      totalHardwareThreads: threads,
      vendor: manufacturer,
      model,
    })),
    networkInterfaces: hardware.nics.map(({ name, macAddress: mac }, index) => ({
      name,
      macAddress: mac,
      carrierStatus: index === 0 ? 'up' : 'down',
      ipAddresses: index === 0 ? [ipAddress] : [],
    })),
    lldp: [
      {
        name: 'eth0',
        neighbors: [
          {
            chassisId: '02:00:00:00:00:01',
            portId: `Ethernet${hardware.nics[0]?.macAddress.slice(-2) ?? ''}`,
            systemName: 'leaf1',
          },
        ],
      },
    ],
    storage: hardware.disks.map((disk) => ({
      name: disk.name,
      model: disk.model,
      serial: disk.serialNumber,
      sizeBytes: disk.bytes,
      rotational: disk.rotational,
      removable: false,
      readOnly: false,
    })),
    memory: hardware.dimms.map(({ id, sizeGiB, serialNumber }) => ({
      deviceLocator: id,
      size: sizeGiB * 2 ** 30,
      serialNumber,
    })),
    nics: hardware.nics.map(({ name, macAddress: mac, pciAddress }) => ({ name, mac, pciAddress })),
    pciDevices: hardware.nics.map(({ pciAddress }) => ({
      address: pciAddress,
      vendor: 'Intel Corporation',
      vendorID: '8086',
    })),
  });
}

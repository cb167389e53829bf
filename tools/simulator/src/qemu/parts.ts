import { digestOf, type Disk, type Hardware, macAddress, uuidFrom } from '../hardware.ts';
import type { VendorProfile } from '../profiles.ts';

export type Firmware = 'SeaBIOS' | 'OVMF';

export interface QemuDisk {
  readonly kind: 'virtio' | 'nvme';
  readonly bytes: number;
  readonly serialNumber: string;
  /** A sector of 512 bytes that cannot be written: an I/O error, as of a worn disk. */
  readonly badSector: number | undefined;
}

/** A port of a bridge in a network namespace of this host. */
export interface Tap {
  readonly namespace: string;
  readonly name: string;
}

export interface QemuNic {
  readonly macAddress: string;
  /** The connected tap; undefined: QEMU's user network. */
  readonly tap: Tap | undefined;
  /** With QEMU's ROM of iPXE; without it only the drivers of OVMF see the card. */
  readonly rom: boolean;
}

/** The hardware of a machine in QEMU: the source of QEMU's arguments and of the Redfish inventory. */
export interface QemuParts {
  readonly firmware: Firmware;
  readonly uuid: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly serialNumber: string;
  readonly sku: string;
  readonly memoryMiB: number;
  readonly dimmSerialNumber: string;
  readonly cores: number;
  readonly nics: readonly QemuNic[];
  readonly disks: readonly QemuDisk[];
  /** Only these loopback URLs are reachable; undefined: everything that this host reaches. */
  readonly reaches: readonly string[] | undefined;
}

/** Options of a machine in QEMU, all optional. */
export interface QemuOptions {
  readonly firmware?: Firmware;
  readonly memoryMiB?: number;
  readonly cores?: number;
  readonly disks?: readonly {
    readonly kind?: QemuDisk['kind'];
    readonly bytes?: number;
    readonly badSector?: number;
  }[];
  readonly nics?: readonly { readonly tap?: Tap; readonly rom?: boolean }[];
  /** Isolates the guest, except for these URLs of this host. */
  readonly reaches?: readonly string[];
}

const defaults = {
  firmware: 'SeaBIOS',
  memoryMiB: 512,
  cores: 1,
  nics: [{}],
  disks: [{}],
} as const satisfies QemuOptions;
const defaultDiskBytes = 64 * 2 ** 20;

/** QEMU's own block of addresses. */
const nicMacPrefix = '525400';
const maxNics = 8;
/** First slot of the cards on the bus. */
const firstNicSlot = 2;
export const nicSlot = (number: number): number => firstNicSlot + number;
export const processorModel = 'QEMU Virtual CPU';
export const processorSpeedMHz = 2_000;
export const dimm = { id: 'DIMM 0', manufacturer: 'QEMU', partNumber: 'QEMU-RAM' } as const;

export interface QemuPlace {
  readonly seed: string;
  readonly index: number;
  /** Number of the machine among several of one BMC. */
  readonly part: number;
  readonly profile: VendorProfile;
  readonly uuid: string | undefined;
}

/** The parts of the machine at this position of a fleet, the same for the same seed. */
export function makeQemuParts({ seed, index, part, profile, uuid }: QemuPlace, options: QemuOptions): QemuParts {
  const digest = (what: string) => digestOf(`${seed}/${index}.${part}/qemu/${what}`);
  const { firmware, memoryMiB, cores, nics, disks } = { ...defaults, ...options };
  return {
    firmware,
    uuid: uuid ?? uuidFrom(digest('uuid')),
    manufacturer: profile.manufacturer,
    model: profile.model,
    serialNumber: digest('serial').slice(0, 10).toUpperCase(),
    sku: digest('sku').slice(0, 7).toUpperCase(),
    memoryMiB,
    dimmSerialNumber: digest('dimm').slice(0, 8).toUpperCase(),
    cores,
    nics: (nics as NonNullable<QemuOptions['nics']>).map(({ tap, rom = true }, number) => ({
      macAddress: macAddress(nicMacPrefix, index, part * maxNics + number),
      tap,
      rom,
    })),
    disks: (disks as NonNullable<QemuOptions['disks']>).map(
      ({ kind = 'virtio', bytes = defaultDiskBytes, badSector }, number) => ({
        kind,
        bytes,
        serialNumber: digest(`disk${number}`).slice(0, 12).toUpperCase(),
        badSector,
      }),
    ),
    reaches: options.reaches,
  };
}

/** The hardware that the BMC reports. */
export const hardwareOf = (parts: QemuParts): Hardware => ({
  uuid: parts.uuid,
  serialNumber: parts.serialNumber,
  sku: parts.sku,
  memoryGiB: parts.memoryMiB / 1_024,
  processors: [
    {
      id: 'CPU 0',
      model: processorModel,
      manufacturer: 'QEMU',
      cores: parts.cores,
      threads: parts.cores,
      maxSpeedMHz: processorSpeedMHz,
    },
  ],
  dimms: [{ ...dimm, sizeGiB: parts.memoryMiB / 1_024, serialNumber: parts.dimmSerialNumber }],
  disks: disksOf(parts.disks),
  nics: parts.nics.map(({ macAddress: address }, number) => ({
    id: `NIC.${number + 1}`,
    name: `enp0s${nicSlot(number)}`,
    macAddress: address,
    pciAddress: `0000:00:0${nicSlot(number)}.0`,
  })),
});

const models: Readonly<Record<QemuDisk['kind'], string>> = { virtio: 'Virtio Disk', nvme: 'QEMU NVMe Ctrl' };

function disksOf(disks: readonly QemuDisk[]): Disk[] {
  const counts = { virtio: 0, nvme: 0 };
  const nameOf = (kind: QemuDisk['kind']): string => {
    const number = counts[kind]++;
    return kind === 'nvme' ? `nvme${number}n1` : `vd${String.fromCodePoint(97 + number)}`;
  };
  return disks.map(({ kind, bytes, serialNumber }, number) => ({
    id: `Disk.${number}`,
    name: nameOf(kind),
    model: models[kind],
    serialNumber,
    bytes,
    rotational: false,
  }));
}

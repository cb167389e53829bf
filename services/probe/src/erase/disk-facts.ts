import type { MachineFiles } from '../machine-files.ts';
import type { PresentDisk } from './match-disks.ts';

export interface Partition {
  readonly name: string;
  readonly startBytes: number;
  readonly sizeBytes: number;
}

/** Attributes in sysfs that decide whether and how a disk may be erased. */
export interface DiskFacts extends PresentDisk {
  /** The command set for erasure. */
  readonly commands: 'nvme' | 'ata' | 'none';
  /** The controller, the same for all its disks; the name of the disk itself if it shares none. */
  readonly controller: string;
  /** MAJOR:MINOR. The opened file must be this device, not a regular file of the same name. */
  readonly deviceNumber: string;
  /** The device has a Write Zeroes command, so that BLKZEROOUT is fast. */
  readonly writesZeroes: boolean;
  readonly partitions: readonly Partition[];
  /** Device numbers of the disk and its partitions. */
  readonly deviceNumbers: ReadonlyMap<string, string>;
  /** Devices on top of the disk or of a partition: md, dm (LVM, LUKS, multipath), bcache. */
  readonly holders: readonly string[];
}

/** Unit of sizes in sysfs, independent of the disk. */
const sectorBytes = 512;

export async function readDiskFacts(disk: PresentDisk, sys: MachineFiles): Promise<DiskFacts> {
  const { name } = disk;
  const children = (await sys.names(`block/${name}`)).filter((child) => child.startsWith(name));
  const partitions = await Promise.all(
    children.map(async (child) => ({
      name: child,
      startBytes: (await sys.number(`block/${name}/${child}/start`)) * sectorBytes,
      sizeBytes: (await sys.number(`block/${name}/${child}/size`)) * sectorBytes,
    })),
  );
  const folders = [name, ...children.map((child) => `${name}/${child}`)];
  const deviceNumbers = await Promise.all(folders.map((folder) => sys.text(`block/${folder}/dev`)));
  const holders = await Promise.all(folders.map((folder) => sys.names(`block/${folder}/holders`)));
  return {
    ...disk,
    commands: commandsOf(disk, await sys.link(`block/${name}`)),
    controller: /^nvme\d+/.exec(name)?.[0] ?? name,
    deviceNumber: deviceNumbers[0] ?? '',
    writesZeroes: (await sys.number(`block/${name}/queue/write_zeroes_max_bytes`)) > 0,
    partitions,
    deviceNumbers: new Map([name, ...children].map((device, index) => [device, deviceNumbers[index] ?? ''])),
    holders: holders.flat(),
  };
}

/**
 * SCSI/ATA Translation sets the vendor "ATA" in the standard INQUIRY data. Security commands behind a USB bridge may leave a
 * disk locked, so a disk behind a USB bridge has no command set.
 */
function commandsOf({ name, vendor }: PresentDisk, sysfsPath: string): DiskFacts['commands'] {
  if (name.startsWith('nvme')) return 'nvme';
  return vendor === 'ATA' && !/\/usb\d/.test(sysfsPath) ? 'ata' : 'none';
}

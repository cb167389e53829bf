import type { MachineFiles } from '../machine-files.ts';
import type { PresentDisk } from './match-disks.ts';

export interface Partition {
  readonly name: string;
  readonly startBytes: number;
  readonly sizeBytes: number;
}

/** What sysfs tells of a disk that decides how, and whether, it may be erased. */
export interface DiskFacts extends PresentDisk {
  /** Which commands it takes besides reading and writing. */
  readonly commands: 'nvme' | 'ata' | 'none';
  /** Disks with the same one answer to one controller; the name of the disk itself where there is nothing to share. */
  readonly controller: string;
  /** Kernel's MAJOR:MINOR: what is opened must be this device, and not a file of the same name. */
  readonly deviceNumber: string;
  /** The device writes zeros by a command of its own, so that BLKZEROOUT is fast. */
  readonly writesZeroes: boolean;
  readonly partitions: readonly Partition[];
  /** Device numbers of the disk and its partitions. */
  readonly deviceNumbers: ReadonlyMap<string, string>;
  /** Devices made of the disk or a partition of it: md, dm (LVM, LUKS, multipath), bcache. */
  readonly holders: readonly string[];
}

/** sysfs counts in these whatever the disk does. */
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
 * Whoever translates SCSI to ATA gives the disk the vendor "ATA" (SCSI/ATA Translation, standard INQUIRY data). Security
 * commands that a USB bridge half understands leave disks locked: behind one, a disk is a disk without commands.
 */
function commandsOf({ name, vendor }: PresentDisk, sysfsPath: string): DiskFacts['commands'] {
  if (name.startsWith('nvme')) return 'nvme';
  return vendor === 'ATA' && !/\/usb\d/.test(sysfsPath) ? 'ata' : 'none';
}

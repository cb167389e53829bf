import type { Raid } from '@metal/api/metal3/raid.ts';
import { rootDevice } from '../image/root-device.ts';

/** A volume in the target RAID configuration of Ironic. */
export type LogicalDisk = Readonly<Record<string, unknown>>;

export type LogicalDisks =
  | { readonly kind: 'disks'; readonly disks: readonly LogicalDisk[] }
  | { readonly kind: 'problem'; readonly problem: string };

/** Without root device hints and root volume, the first volume gets the image. */
export function logicalDisks({ hardwareRAIDVolumes, softwareRAIDVolumes }: Raid, hasHints: boolean): LogicalDisks {
  const software = softwareRAIDVolumes ?? [];
  if (software.length > 0 && software[0]?.level !== '1')
    return { kind: 'problem', problem: 'spec.raid.softwareRAIDVolumes: expected level 1 for the first volume' };
  const disks = software.length > 0 ? software.map(softwareDisk) : (hardwareRAIDVolumes ?? []).map(hardwareDisk);
  const hasRoot = hasHints || disks.some((disk) => disk.is_root_volume === true);
  return { kind: 'disks', disks: disks.map((disk, index) => (index === 0 && !hasRoot ? rooted(disk) : disk)) };
}

const rooted = (disk: LogicalDisk): LogicalDisk => ({ ...disk, is_root_volume: true });

function hardwareDisk(volume: NonNullable<Raid['hardwareRAIDVolumes']>[number]): LogicalDisk {
  const { level, name, rotational, sizeGibibytes, controller, physicalDisks, numberOfPhysicalDisks } = volume;
  return {
    size_gb: sizeGibibytes ?? 'MAX',
    raid_level: level,
    ...(name === undefined || name === '' ? {} : { volume_name: name }),
    ...(rotational === undefined ? {} : { disk_type: rotational ? 'hdd' : 'ssd' }),
    ...(controller === undefined || controller === '' ? {} : { controller }),
    ...(physicalDisks === undefined || physicalDisks.length === 0 ? {} : { physical_disks: physicalDisks }),
    ...(numberOfPhysicalDisks === undefined ? {} : { number_of_physical_disks: numberOfPhysicalDisks }),
  };
}

function softwareDisk(volume: NonNullable<Raid['softwareRAIDVolumes']>[number]): LogicalDisk {
  const { level, physicalDisks, rootVolume, sizeGibibytes } = volume;
  return {
    size_gb: sizeGibibytes ?? 'MAX',
    raid_level: level,
    controller: 'software',
    ...(physicalDisks === undefined ? {} : { physical_disks: physicalDisks.map(rootDevice) }),
    ...(rootVolume ? { is_root_volume: true } : {}),
  };
}

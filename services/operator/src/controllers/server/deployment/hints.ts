import type { RootDeviceHints } from '@metal/api/common/disk-image.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { DeploymentReason } from '../../deployment-reasons.ts';

type Disk = ProbeReport['storage'][number];

/** The disk that an image is written to, or why there is none. */
export type Target =
  | { readonly kind: 'found'; readonly disk: Disk }
  | { readonly kind: 'none'; readonly reason: DeploymentReason; readonly message: string };

const none = (reason: DeploymentReason, message: string): Target => ({ kind: 'none', reason, message });

/** Exactly one disk must match all hints, and must be recognisable on the machine. Without hints: the only disk. */
export function targetOf(storage: readonly Disk[], hints: RootDeviceHints = {}): Target {
  const disks = storage.filter(({ removable, readOnly }) => !removable && !readOnly);
  const found = disks.filter((disk) => matches(disk, hints));
  const [disk, ...others] = found;
  if (disk === undefined) return none('RootDeviceNotFound', `none of ${disks.length} disks matches rootDeviceHints`);
  if (others.length > 0)
    return none('RootDeviceAmbiguous', `${namesOf(found)} match rootDeviceHints; expected one disk`);
  if (storage.filter((other) => isSame(other, disk)).length !== 1)
    return none('RootDeviceUnidentifiable', `${disk.name} has no WWID or serial number of its own`);
  return { kind: 'found', disk };
}

const mostNames = 4;
const namesOf = (disks: readonly Disk[]): string => {
  const names = disks.slice(0, mostNames).map(({ name }) => name);
  return disks.length > mostNames ? `${names.join(', ')} and ${disks.length - mostNames} more` : names.join(', ');
};

/** As the agent compares the disks of the machine with an order. */
function isSame(other: Disk, disk: Disk): boolean {
  if (other.wwid !== '' && disk.wwid !== '') return other.wwid === disk.wwid;
  return disk.serial !== '' && other.serial === disk.serial && other.model === disk.model;
}

const gibibyte = 1_073_741_824;

/** As Ironic compares: text without regard to case, model and vendor as a part of it. */
function matches(disk: Disk, hints: RootDeviceHints): boolean {
  const { base, extension } = wwnOf(disk.wwid);
  return (
    isEqual(hints.deviceName, `/dev/${disk.name}`, `/dev/disk/by-path/${disk.path}`) &&
    isEqual(hints.hctl, disk.hctl ?? '') &&
    isPart(hints.model, disk.model) &&
    isPart(hints.vendor, disk.vendor) &&
    isEqual(hints.serialNumber, disk.serial) &&
    disk.sizeBytes >= (hints.minSizeGigabytes ?? 0) * gibibyte &&
    isEqual(hints.wwn && bare(hints.wwn), base) &&
    isEqual(hints.wwnWithExtension && bare(hints.wwnWithExtension), base + extension) &&
    isEqual(hints.wwnVendorExtension && bare(hints.wwnVendorExtension), extension) &&
    (hints.rotational === undefined || hints.rotational === disk.rotational)
  );
}

const plain = (text: string): string => text.trim().toLowerCase();

/** An empty value of the disk matches no hint. */
const isEqual = (hint: string | undefined, ...values: readonly string[]): boolean =>
  hint === undefined || values.some((value) => value !== '' && plain(value) === plain(hint));

const isPart = (hint: string | undefined, value: string): boolean =>
  hint === undefined || plain(value).includes(plain(hint));

/** sysfs has `naa.` or `eui.` before the digits, udev `0x` or `eui.`. */
const bare = (wwn: string): string => plain(wwn).replace(/^(?:naa\.|eui\.|0x)/, '');

/** Half of an NAA 6 identifier is the vendor specific extension (SPC-5, 7.7.6.6). */
function wwnOf(wwid: string): { base: string; extension: string } {
  const digits = /^(?:naa|eui)\.([0-9a-f]+)$/i.exec(wwid.trim())?.[1]?.toLowerCase() ?? '';
  const isExtended = plain(wwid).startsWith('naa.6') && digits.length === 32;
  return isExtended ? { base: digits.slice(0, 16), extension: digits.slice(16) } : { base: digits, extension: '' };
}

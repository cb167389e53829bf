import type { OrderedDisk } from '@metal/api/wire/erasure.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';

export type PresentDisk = Pick<
  ProbeReport['storage'][number],
  'name' | 'serial' | 'wwid' | 'model' | 'vendor' | 'sizeBytes' | 'logicalBlockSize' | 'removable' | 'readOnly'
>;

export interface MatchedDisk {
  readonly ordered: OrderedDisk;
  readonly present: PresentDisk;
}

export interface Match {
  readonly disks: readonly MatchedDisk[];
  /** Clauses with the names of the disks. Nothing is erased if there is a problem. */
  readonly problems: readonly string[];
}

/**
 * Finds each disk of the order on the machine. Removable and read-only disks are ignored, because virtual media of the BMC come
 * and go.
 */
export function matchDisks(order: readonly OrderedDisk[], all: readonly PresentDisk[]): Match {
  const present = all.filter(({ removable, readOnly }) => !removable && !readOnly);
  const found = order.map((ordered) => ({ ordered, disks: present.filter((disk) => isSameDisk(ordered, disk)) }));
  return {
    disks: found.flatMap(({ ordered, disks: [disk] }) => (disk === undefined ? [] : [{ ordered, present: disk }])),
    problems: [
      ...found.flatMap(({ ordered, disks }) => problemsOfOrdered(ordered, disks, all)),
      ...present.flatMap((disk) => problemsOfPresent(disk, order)),
    ],
  };
}

/** By WWID if both have one; else by serial number and model. The size is compared separately, for the message. */
export function isSameDisk(ordered: OrderedDisk, disk: PresentDisk): boolean {
  if (ordered.wwid !== '' && disk.wwid !== '') return ordered.wwid === disk.wwid;
  return ordered.serial !== '' && ordered.serial === disk.serial && ordered.model === disk.model;
}

function problemsOfOrdered(ordered: OrderedDisk, disks: readonly PresentDisk[], all: readonly PresentDisk[]): string[] {
  const [disk, ...others] = disks;
  const label = describeDisk(ordered);
  if (ordered.wwid === '' && ordered.serial === '')
    return [`the order has a disk without serial number and WWID (model "${ordered.model}")`];
  if (disk === undefined) {
    const untouched = all.find((candidate) => isSameDisk(ordered, candidate));
    if (untouched === undefined) return [`${label} of the order is not there`];
    return [`${label} of the order is ${untouched.name}, which is ${untouched.readOnly ? 'read-only' : 'removable'}`];
  }
  if (others.length > 0) return [`${label} of the order is there as ${disks.map(({ name }) => name).join(' and ')}`];
  if (disk.sizeBytes === 0) return [`${disk.name}, ${label}, has no capacity`];
  if (disk.sizeBytes !== ordered.sizeBytes)
    return [`${disk.name}, ${label}, has ${disk.sizeBytes} bytes; the order has ${ordered.sizeBytes}`];
  return [];
}

function problemsOfPresent(disk: PresentDisk, order: readonly OrderedDisk[]): string[] {
  if (disk.wwid === '' && disk.serial === '')
    return [`${disk.name} (model "${disk.model}") has neither serial number nor WWID`];
  const ordered = order.filter((candidate) => isSameDisk(candidate, disk));
  if (ordered.length === 0) return [`${disk.name}, ${describeDisk(disk)}, is there and not in the order`];
  if (ordered.length > 1) return [`${disk.name}, ${describeDisk(disk)}, is in the order ${ordered.length} times`];
  return [];
}

export const describeDisk = ({ serial, wwid, model }: Pick<OrderedDisk, 'serial' | 'wwid' | 'model'>): string =>
  `disk ${[serial && `serial ${serial}`, wwid && `WWID ${wwid}`, model && `model ${model}`].filter(Boolean).join(', ')}`;

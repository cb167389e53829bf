import type { Stats } from 'node:fs';
import { join } from 'node:path';
import type { ErasureOrder, OrderedDisk } from '@metal/api/wire/erasure.ts';
import { readDisks } from '../disks.ts';
import { type MachineFiles, machineFiles } from '../machine-files.ts';
import type { RunProgram } from '../environment.ts';
import { blockDeviceNumber, openDevice, reasonOf } from './device.ts';
import { type DiskFacts, readDiskFacts } from './disk-facts.ts';
import { usesOf } from './in-use.ts';
import { matchDisks } from './match-disks.ts';

/** The files of the machine on which the disks are found. */
export interface ErasureFiles {
  readonly sys: MachineFiles;
  readonly udev: MachineFiles;
  readonly proc: MachineFiles;
  readonly devRoot: string;
  /** Number of what was opened, to be the one that sysfs tells. */
  readonly numberOf: (stats: Stats) => string;
  readonly open: typeof openDevice;
}

export const filesOfMachine = (): ErasureFiles => ({
  sys: machineFiles('/sys'),
  udev: machineFiles('/run'),
  proc: machineFiles('/proc'),
  devRoot: '/dev',
  numberOf: blockDeviceNumber,
  open: openDevice,
});

export interface Inventory {
  readonly disks: readonly { readonly ordered: OrderedDisk; readonly facts: DiskFacts }[];
  /** Whole disks that must be left alone. */
  readonly others: readonly string[];
  /** Why nothing may be erased, each naming its disk. */
  readonly problems: readonly string[];
}

/** How a disk is does not matter to it being erased, and a disk that is locked may be slow to say. */
const runNothing: RunProgram = async (program) => {
  throw new Error(`${program} is not asked`);
};

/** Compares the machine with the order. Reads only. */
export async function takeInventory(order: ErasureOrder, files: ErasureFiles, signal: AbortSignal): Promise<Inventory> {
  const present = await readDisks(files.sys, files.udev, { run: runNothing, signal });
  const match = matchDisks(order.disks, present);
  const disks = await Promise.all(
    match.disks.map(async ({ ordered, present: disk }) => ({ ordered, facts: await readDiskFacts(disk, files.sys) })),
  );
  const ours = new Set(disks.map(({ facts }) => facts.name));
  const uses = await Promise.all(disks.map(({ facts }) => blockersOf(facts, files)));
  return {
    disks,
    others: present.map(({ name }) => name).filter((name) => !ours.has(name)),
    problems: [...match.problems, ...uses.flat()],
  };
}

export const openDisk = ({ name, deviceNumber }: DiskFacts, { devRoot, numberOf, open }: ErasureFiles) =>
  open({ name, path: join(devRoot, name), deviceNumber, numberOf });

/** The kernel is asked, too, by opening the disk for itself alone: it knows of uses that are in no file. */
async function blockersOf(disk: DiskFacts, files: ErasureFiles): Promise<string[]> {
  const uses = await usesOf(disk, files.proc);
  if (uses.length > 0) return uses;
  try {
    await using _device = await openDisk(disk, files);
    return [];
  } catch (error) {
    return [reasonOf(error)];
  }
}

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

/** The files of the machine that describe its disks. */
export interface ErasureFiles {
  readonly sys: MachineFiles;
  readonly udev: MachineFiles;
  readonly proc: MachineFiles;
  readonly devRoot: string;
  /** Device number of an opened file, to be compared with sysfs. */
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
  /** Whole disks that must not be erased. */
  readonly others: readonly string[];
  /** Reasons for which nothing may be erased, each with its disk. */
  readonly problems: readonly string[];
}

/** Health is not needed for an erasure, and smartctl may be slow on a locked disk. */
const runNothing: RunProgram = async (program) => {
  throw new Error(`${program} is not used`);
};

/** Compares the machine with the order. Read-only. */
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

/** Also opens the disk exclusively, because not all uses are listed in procfs. */
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

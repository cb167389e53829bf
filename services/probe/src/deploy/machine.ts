import { type ErasureFiles, filesOfMachine, openDisk } from '../erase/inventory.ts';
import { readDiskFacts } from '../erase/disk-facts.ts';
import { usesOf } from '../erase/in-use.ts';
import type { Device } from '../erase/device.ts';
import type { PresentDisk } from '../erase/match-disks.ts';
import { readDisks } from '../disks.ts';
import { efiVariables, type EfiVariables } from './boot-entry.ts';

/** Access of a deployment to its machine. */
export interface DeploymentMachine {
  disks(signal: AbortSignal): Promise<readonly PresentDisk[]>;
  /** Uses by the kernel, as clauses with the name of the disk. */
  usesOf(disk: PresentDisk): Promise<readonly string[]>;
  open(disk: PresentDisk): Promise<Device>;
  readonly efi: EfiVariables;
}

/** SMART data is not needed for a deployment. */
const runNothing = async (program: string): Promise<never> => {
  throw new Error(`${program} is not used`);
};

export const thisMachine = (files: ErasureFiles = filesOfMachine(), efi = efiVariables()): DeploymentMachine => ({
  disks: (signal) => readDisks(files.sys, files.udev, { run: runNothing, signal }),
  usesOf: async (disk) => usesOf(await readDiskFacts(disk, files.sys), files.proc),
  open: async (disk) => openDisk(await readDiskFacts(disk, files.sys), files),
  efi,
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '@metal/process/child.ts';
import { FleetError } from '../errors.ts';
import { chooseAccelerator } from './accelerator.ts';
import type { Accelerator } from './arguments.ts';
import { qemuAvailable, type QemuPrograms } from './programs.ts';

/** Shared by the machines of one fleet. The directory is removed after any exit of this process. */
export interface QemuRack extends AsyncDisposable {
  readonly programs: QemuPrograms;
  readonly accelerator: Accelerator;
  readonly directory: string;
}

/** @throws FleetError QemuMissing */
export async function openRack(): Promise<QemuRack> {
  const available = await qemuAvailable();
  if (!available.isAvailable) throw new FleetError('QemuMissing', available.reason);
  const { programs } = available;
  const accelerator = await chooseAccelerator(programs);
  const directory = await mkdtemp(join(tmpdir(), 'metal-qemu-'));
  // Machines that are off have no process that could remove their disks, so a separate process has to outlive this one.
  const cleanupProcess = new Child({
    name: 'keeper',
    command: 'sleep',
    args: ['infinity'],
    directory,
    logFile: '/dev/null',
    leftovers: directory,
  });
  return {
    programs,
    accelerator,
    directory,
    async [Symbol.asyncDispose]() {
      await cleanupProcess.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

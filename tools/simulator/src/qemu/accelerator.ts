import { access, constants, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '@metal/process/child.ts';
import type { Accelerator } from './arguments.ts';
import { bootSector } from './boot-sector.ts';
import { Monitor } from './monitor.ts';
import type { QemuPrograms } from './programs.ts';

const trialTimeoutMs = 20_000;
/** A BIOS writes its first output within a second, even when it is slow. */
const firstOutputTimeoutMs = 5_000;
let decided: Promise<Accelerator> | undefined;

/**
 * KVM when a machine boots under it, otherwise QEMU's own interpreter. Decided once per process, as it takes seconds: when KVM
 * itself runs in a virtual machine, its device may open and then fail on instructions of the firmware, so a trial boot is needed.
 */
export function chooseAccelerator(programs: QemuPrograms): Promise<Accelerator> {
  decided ??= access('/dev/kvm', constants.R_OK | constants.W_OK)
    .then(() => boots(programs, 'kvm'))
    .then((works): Accelerator => (works ? 'kvm' : 'tcg'))
    .catch((): Accelerator => 'tcg');
  return decided;
}

/** Whether a BIOS, its network ROM and a system on disk run under it until the system powers off. */
export async function boots({ qemu }: Pick<QemuPrograms, 'qemu'>, accelerator: Accelerator): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'qemu-trial-'));
  const disk = join(directory, 'disk.raw');
  await writeFile(disk, bootSector('trial', 'powers off'));
  await truncate(disk, 2 ** 20);
  const child = new Child({
    name: 'qemu',
    command: qemu,
    directory,
    logFile: join(directory, 'qemu.log'),
    leftovers: directory,
    channels: 2,
    args: [
      ['-S', '-nodefaults', '-no-user-config', '-display', 'none', '-machine', 'q35,graphics=off'],
      ['-accel', accelerator, '-cpu', accelerator === 'kvm' ? 'host' : 'max', '-m', '128M'],
      ['-chardev', 'socket,id=monitor,fd=3', '-mon', 'chardev=monitor,mode=control'],
      ['-chardev', 'socket,id=serial,fd=4', '-serial', 'chardev:serial'],
      ['-netdev', 'user,id=net0,restrict=on', '-device', 'virtio-net-pci,netdev=net0,bootindex=0'],
      ['-drive', `if=none,id=disk,format=raw,file=${disk}`, '-device', 'virtio-blk-pci,drive=disk,bootindex=1'],
    ].flat(),
  });
  const kill = () => void child.kill();
  const timers = [setTimeout(kill, trialTimeoutMs), setTimeout(kill, firstOutputTimeoutMs)];
  child.channels[1]?.once('data', () => clearTimeout(timers[1])).resume();
  try {
    return await runsThrough(child, kill);
  } finally {
    timers.forEach(clearTimeout);
    await child.kill();
    await rm(directory, { recursive: true, force: true });
  }
}

async function runsThrough({ channels, exited }: Child, kill: () => void): Promise<boolean> {
  const [channel] = channels;
  if (channel === undefined) return false;
  let poweredOff = false;
  const monitor = new Monitor(channel, ({ event, data }) => {
    if (event === 'SHUTDOWN' && data.guest === true) poweredOff = true;
    // An error of the accelerator only halts the machine.
    else if (event === 'STOP') kill();
  });
  await Promise.all([monitor.do('qmp_capabilities'), monitor.do('cont')]).catch(kill);
  await exited;
  return poweredOff;
}

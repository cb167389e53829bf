import { join } from 'node:path';
import { hostAddress } from '@metal/simulator/qemu/guest-url.ts';

/** Flags of an operator that QEMU guests on this host can reach, with free ports. */
export const flagsForGuests = ({ host = hostAddress, registryScheme = 'http' } = {}): string[] => [
  `--registry-url=${registryScheme}://${host}`,
  '--registry-port=0',
  `--boot-url=http://${host}`,
  '--boot-port=0',
];

/** An entry of `--boot-images` for kernel and initrd in a directory, with a serial console. */
export const guestImage = (directory: string, ...kernelParameters: readonly string[]) => ({
  kernel: join(directory, 'vmlinuz'),
  initrd: join(directory, 'initrd'),
  cmdline: ['console=ttyS0,115200', ...kernelParameters].join(' '),
});

/** A short wait for LLDP neighbours: QEMU's network has none. */
export const noNeighbours = 'metalprobe.lldp-sync-duration=1s';

import { join } from 'node:path';
import { hostAddress } from '@metal/simulator/qemu/guest-url.ts';

/** Flags of an operator that guests of QEMU on this host can reach, at ports that are free. */
export const flagsForGuests = ({ host = hostAddress, registryScheme = 'http' } = {}): string[] => [
  `--registry-url=${registryScheme}://${host}`,
  '--registry-port=0',
  `--boot-url=http://${host}`,
  '--boot-port=0',
];

/** Kernel and initrd in a directory as an entry of `--boot-images`, that tells its story on the serial line. */
export const guestImage = (directory: string, ...kernelParameters: readonly string[]) => ({
  kernel: join(directory, 'vmlinuz'),
  initrd: join(directory, 'initrd'),
  cmdline: ['console=ttyS0,115200', ...kernelParameters].join(' '),
});

/** Nobody announces anything on QEMU's network: neighbours are not waited for. */
export const noNeighbours = 'metalprobe.lldp-sync-duration=1s';

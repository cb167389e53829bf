import { join } from 'node:path';
import { freePort } from '@metal/controlplane/free-port.ts';
import { hostAddress } from '@metal/simulator/qemu/guest-url.ts';

/** Flags of an operator that guests of QEMU on this host can reach. */
export async function flagsForGuests(registryScheme: 'http' | 'https' = 'http'): Promise<string[]> {
  const [registry, boot] = [await freePort(), await freePort()];
  return [
    `--registry-url=${registryScheme}://${hostAddress}:${registry}`,
    `--registry-port=${registry}`,
    `--boot-url=http://${hostAddress}:${boot}`,
    `--boot-port=${boot}`,
  ];
}

/** Kernel and initrd in a directory as an entry of `--boot-images`, that tells its story on the serial line. */
export const guestImage = (directory: string, ...words: readonly string[]) => ({
  kernel: join(directory, 'vmlinuz'),
  initrd: join(directory, 'initrd'),
  cmdline: ['console=ttyS0,115200', ...words].join(' '),
});

/** Nobody announces anything on QEMU's network: neighbours are not waited for. */
export const noNeighbours = 'metalprobe.lldp-sync-duration=1s';

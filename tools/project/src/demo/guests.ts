import { join } from 'node:path';
import { freePort } from '@metal/controlplane/free-port.ts';
import { hostAddress } from '@metal/simulator/qemu/guest-url.ts';

/** Flags of an operator that guests of QEMU reach under this address of this host. */
export async function flagsForGuests({ host = hostAddress, registryScheme = 'http' } = {}): Promise<string[]> {
  const [registry, boot] = [await freePort(), await freePort()];
  return [
    `--registry-url=${registryScheme}://${host}:${registry}`,
    `--registry-port=${registry}`,
    `--boot-url=http://${host}:${boot}`,
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

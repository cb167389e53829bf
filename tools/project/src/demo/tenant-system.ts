import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cpio } from '@metal/discovery-image/cpio.ts';
import { bootSector } from '@metal/simulator/qemu/boot-sector.ts';

export const banners = { network: 'TENANT SYSTEM FROM THE NETWORK', disk: 'TENANT SYSTEM FROM DISK' } as const;

/**
 * The system of a tenant: it fetches its ignition, prints a secret from it, writes a boot sector to the first disk and reports that
 * it has booted.
 */
const initWith = (commands: string): string => `#!/bin/busybox sh
export PATH=/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs run /run
mkdir -p /run/boot-files /run/resolv
echo 3 > /proc/sys/kernel/printk
exec > /dev/ttyS0 2>&1
echo
echo "${banners.network}"
modprobe -a -q virtio_pci virtio_net virtio_blk nvme evdev button
acpid
ip link set lo up
ip link set eth0 up
udhcpc -i eth0 -s /etc/udhcpc.script -t 10 -T 2 -n -q
word() { tr ' ' '\\n' < /proc/cmdline | sed -n "s|^$1=||p"; }
orders="$(word ignition.config.url)"
[ -n "$orders" ] && wget -q -O /run/ignition "$orders" && echo "ignition: $(grep -o 'tenant-secret-[a-z0-9]*' /run/ignition)"
dd if=/etc/disk-sector of=/dev/vda bs=512 count=1 conv=notrunc 2> /dev/null
sync
until wget -q -O - --post-data '' "$(word metal.boot.evidence)"; do sleep 1; done
[ -z "$orders" ] || wget -q -O /dev/null "$orders" || echo "a second ignition is refused"
${commands}
echo "up"
while :; do sleep 60; done
`;

/**
 * Writes `vmlinuz` and `initrd` of a tenant into the directory: the discovery image with another init, which runs the commands once it
 * has booted.
 */
export async function writeTenantImage(directory: string, discoveryImage: string, commands = ''): Promise<void> {
  await mkdir(directory, { recursive: true });
  await copyFile(join(discoveryImage, 'vmlinuz'), join(directory, 'vmlinuz'));
  // The kernel unpacks the archives in order; files of the later one replace those of the earlier one.
  const own = cpio([
    { path: 'init', type: 'file', executable: true, content: Buffer.from(initWith(commands)) },
    {
      path: 'etc/disk-sector',
      type: 'file',
      executable: false,
      content: bootSector(banners.disk, 'obeys the power button'),
    },
  ]);
  const first = await readFile(join(discoveryImage, 'initrd'));
  const padding = Buffer.alloc((4 - (first.length % 4)) % 4);
  await writeFile(join(directory, 'initrd'), Buffer.concat([first, padding, own]));
}

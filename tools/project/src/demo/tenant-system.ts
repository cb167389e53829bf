import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cpio } from '@metal/discovery-image/cpio.ts';
import { bootSector } from '@metal/simulator/qemu/boot-sector.ts';

export const banners = { network: 'TENANT SYSTEM FROM THE NETWORK', disk: 'TENANT SYSTEM FROM DISK' } as const;

/**
 * What a tenant boots: it reads its ignition, says what it found there, installs a system on the first disk and tells
 * that it is up.
 */
const init = `#!/bin/busybox sh
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
echo "up"
while :; do sleep 60; done
`;

/** Writes `vmlinuz` and `initrd` of a tenant into the directory, made of the discovery image: only what it starts differs. */
export async function writeTenantImage(directory: string, discoveryImage: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await copyFile(join(discoveryImage, 'vmlinuz'), join(directory, 'vmlinuz'));
  // Kernels unpack one archive after the other; the later wins.
  const own = cpio([
    { path: 'init', type: 'file', executable: true, content: Buffer.from(init) },
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

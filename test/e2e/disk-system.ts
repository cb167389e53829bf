import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gptImage, mebibyte } from '@metal/probe/test/disk-fixture.ts';
import { cpio } from '@metal/discovery-image/cpio.ts';
import { readInputs } from '@metal/discovery-image/inputs.ts';
import { fetchPackages, unpackPackages } from '@metal/discovery-image/packages.ts';
import { tool } from '@metal/discovery-image/tool.ts';
import { buildUnifiedKernelImage } from '@metal/discovery-image/unified-kernel-image.ts';
import { cacheDirectory } from '@metal/process/cache-directory.ts';

/** Not among the modules of the discovery image; both, in this order. */
const modules = ['kernel/drivers/cdrom/cdrom.ko', 'kernel/fs/isofs/isofs.ko'];

/** It prints the user data of its config drive, and the name in its meta data, each time it starts. */
const init = `#!/bin/busybox sh
export PATH=/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /config
echo 3 > /proc/sys/kernel/printk
exec > /dev/ttyS0 2>&1
echo
modprobe -a -q virtio_pci virtio_blk nvme evdev button
acpid
for module in /modules/*; do insmod "$module"; done
for partition in /sys/class/block/*/partition; do
  name="$(basename "$(dirname "$partition")")"
  mount -t iso9660 -o ro "/dev/$name" /config 2> /dev/null && break
done
data=/config/openstack/latest
echo "system on the disk with $(cat $data/user_data) of $(grep -o '"name": *"[^"]*"' $data/meta_data.json)"
while :; do sleep 60; done
`;

/** The image of a disk that UEFI starts: one EFI system partition with a unified kernel image. */
export async function diskSystem(discoveryImage: string): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-disk-system-'));
  try {
    const loader = await unifiedKernelImage(directory, discoveryImage);
    const partition = join(directory, 'partition');
    const partitionBytes = 80 * mebibyte;
    await tool('mformat', ['-i', partition, '-C', '-T', String(partitionBytes / 512), '-h', '16', '-s', '63', '::']);
    await tool('mmd', ['-i', partition, '::/EFI', '::/EFI/BOOT']);
    await tool('mcopy', ['-i', partition, loader, '::/EFI/BOOT/BOOTX64.EFI']);
    const image = gptImage(partitionBytes + 2 * mebibyte, partitionBytes);
    (await readFile(partition)).copy(image, mebibyte);
    return image;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function unifiedKernelImage(directory: string, discoveryImage: string): Promise<string> {
  const file = async (name: string, content: string | Buffer) => {
    await writeFile(join(directory, name), content);
    return join(directory, name);
  };
  const first = await readFile(join(discoveryImage, 'initrd'));
  const padding = Buffer.alloc((4 - (first.length % 4)) % 4);
  const initrd = Buffer.concat([first, padding, await additions(directory)]);
  const sections = {
    '.osrel': await file('osrel', 'ID=disk-system\n'),
    '.cmdline': await file('cmdline', 'console=ttyS0 panic=60\0'),
    '.initrd': await file('initrd', initrd),
    '.linux': join(discoveryImage, 'vmlinuz'),
  };
  const output = join(directory, 'loader.efi');
  await buildUnifiedKernelImage({ stub: '/usr/lib/systemd/boot/efi/linuxx64.efi.stub', sections }, output);
  return output;
}

/** Unpacked after the discovery image, so that its init replaces that one. */
async function additions(directory: string): Promise<Buffer> {
  const { kernel, packages } = await readInputs();
  const wanted = packages.filter(({ name }) => name === kernel);
  const unpacked = join(directory, 'kernel');
  await unpackPackages(await fetchPackages(wanted, join(cacheDirectory(), 'debian-packages')), unpacked);
  const root = join(unpacked, 'lib/modules', kernel.replace(/^linux-image-/, ''));
  const files = await Promise.all(modules.map((path) => readFile(join(root, path))));
  return cpio([
    { path: 'init', type: 'file', executable: true, content: Buffer.from(init) },
    ...files.map((content, index) => {
      return { path: `modules/${index}.ko`, type: 'file', executable: false, content } as const;
    }),
  ]);
}

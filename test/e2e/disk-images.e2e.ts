import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { qcow2From } from '@metal/boot/images/disk/qcow2-fixture.ts';
import { mbrImage, mebibyte } from '@metal/probe/deploy/disk-fixture.ts';
import { bootSector } from '@metal/simulator/qemu/boot-sector.ts';
import { QemuMachine } from '@metal/simulator/qemu/qemu-machine.ts';
import { startImageServer } from '@metal/testenv/image-server.ts';
import { addRealMachine, startRealTestenv, timeoutSignal } from './real-testenv.ts';

const banner = 'SYSTEM FROM THE DISK IMAGE';

/** A disk with one partition, whose boot code prints its banner and obeys the power button. */
function bootableImage(): Buffer {
  const image = mbrImage();
  bootSector(banner, 'obeys the power button').copy(image, 0, 0, 440);
  return image;
}

const formats: [string, (image: Buffer) => Buffer][] = [
  ['raw', (image) => image],
  ['qcow2', qcow2From],
];
for (const [format, fileOf] of formats) {
  test(`a ${format} image is written to the hinted disk, and the machine boots it`, async () => {
    await using images = await startImageServer();
    await using testenv = await startRealTestenv({
      flags: [`--allowed-image-origins=${images.url}`, '--refused-image-networks=192.0.2.0/24'],
    });
    // A BIOS has no boot entries: it starts the first disk.
    const node = await addRealMachine(testenv, { disks: [{}, { kind: 'nvme', bytes: 96 * mebibyte }] });
    assert.ok(node.machine instanceof QemuMachine);
    await testenv.plugIn(node);
    const { metadata } = await testenv.server(node).hasReason('Available');
    const { spec } = await testenv.client.get(ServerInventory, { name: metadata.name });
    const disk = spec.report.storage.find(({ name }) => !name.startsWith('nvme')) ?? assert.fail('it has two disks');
    await testenv.client.create(Secret, {
      metadata: { name: 'user', namespace: 'default' },
      type: 'Opaque',
      data: { userData: Buffer.from('#cloud-config').toString('base64') },
    });

    const image = bootableImage();
    const file = fileOf(image);
    const checksum = createHash('sha512').update(file).digest('hex');
    const url = images.serve(`os.${format}`, file);
    const rootDeviceHints = { serialNumber: disk.serial };
    const diskImage = { url, checksum, format, rootDeviceHints, userData: { name: 'user' } };
    const claim = await testenv.claim({ image: '', diskImage, on: node });
    await node.serial.waitForLine(new RegExp(banner), timeoutSignal());
    await claim.watched.hasCondition('Ready', 'True');

    const contents = await Promise.all(node.machine.diskFiles.map((path) => readStart(path, 64 * mebibyte)));
    const written = contents.filter((content) => content.subarray(512, image.length).equals(image.subarray(512)));
    assert.equal(written.length, 1, 'one disk has the image');
    assert.ok(written[0]?.includes('#cloud-config'), 'with its config drive');
    assert.ok(
      contents.some((content) => content.every((byte) => byte === 0)),
      'the other one is untouched',
    );
  });
}

async function readStart(path: string, sizeBytes: number): Promise<Buffer> {
  await using file = await open(path);
  const content = Buffer.alloc(Math.min(sizeBytes, (await file.stat()).size));
  await file.read(content, 0, content.length, 0);
  return content;
}

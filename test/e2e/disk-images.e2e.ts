import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { qcow2From } from '@metal/boot/test/qcow2-fixture.ts';
import { mbrImage, mebibyte } from '@metal/probe/test/disk-fixture.ts';
import { bootSector } from '@metal/simulator/qemu/boot-sector.ts';
import { QemuMachine } from '@metal/simulator/qemu/qemu-machine.ts';
import { startImageServer } from '@metal/testenv/network/image-server.ts';
import { MachineNetwork, machineNetworkBlocker } from '@metal/testenv/network/machine-network.ts';
import { diskSystem } from './disk-system.ts';
import { addRealMachine, discoveryImage, startRealTestenv, timeoutSignal } from '@metal/testenv/real-testenv.ts';

const blocker = await machineNetworkBlocker();
const systemLine = /^system on the disk with the data of its user of "name": *"node-1"/;
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

test(
  'a system that UEFI starts from its disk reads its config drive, also after a loss of power',
  blocker === undefined ? {} : { skip: blocker },
  async () => {
    await using network = await MachineNetwork.open();
    await using images = await startImageServer();
    const flags = [`--allowed-image-origins=${images.url}`, '--refused-image-networks=192.0.2.0/24'];
    await using testenv = await startRealTestenv({
      host: network.host,
      flags: [...network.dhcpFlags, '--probe-os-image=discovery-uki', ...flags],
    });
    const machine = { firmware: 'OVMF', nics: [{ tap: await network.port(), rom: false }] } as const;
    const node = await addRealMachine(testenv, { ...machine, disks: [{ kind: 'nvme', bytes: 128 * mebibyte }] });
    await testenv.plugIn(node);
    await testenv.server(node).hasReason('Available');
    const data = { userData: Buffer.from('the data of its user').toString('base64') };
    await testenv.client.create(Secret, { metadata: { name: 'user', namespace: 'default' }, data });
    const meta = { metaData: Buffer.from('{"name": "node-1"}').toString('base64') };
    await testenv.client.create(Secret, { metadata: { name: 'meta', namespace: 'default' }, data: meta });

    const image = await diskSystem(discoveryImage);
    const checksum = createHash('sha256').update(image).digest('hex');
    const url = images.serve('os.raw', image);
    const secrets = { userData: { name: 'user' }, metaData: { name: 'meta' } };
    const diskImage = { url, checksum, format: 'raw', ...secrets } as const;
    const claim = await testenv.claim({ image: '', diskImage, on: node });
    await node.serial.waitForLine(/: first in the boot order/, timeoutSignal());
    const starts = (count: number) =>
      node.until(() => node.serial.last().filter((line) => systemLine.test(line)).length === count, timeoutSignal());
    using _lines = node.serial.onLine(() => node.machine.touch());
    await starts(1);
    await claim.watched.hasCondition('Ready', 'True');
    node.machine.cutOff();
    await starts(2);
  },
);

async function readStart(path: string, sizeBytes: number): Promise<Buffer> {
  await using file = await open(path);
  const content = Buffer.alloc(Math.min(sizeBytes, (await file.stat()).size));
  await file.read(content, 0, content.length, 0);
  return content;
}

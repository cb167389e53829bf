import assert from 'node:assert/strict';
import { Stats } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { alignedBuffer, blockDeviceNumber, openDevice } from './device.ts';

const inode = (stats: Stats): string => String(stats.ino);

async function fileWith(sizeBytes: number): Promise<AsyncDisposable & { path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'metalprobe-test-'));
  await writeFile(join(directory, 'sda'), Buffer.alloc(sizeBytes, 7));
  return { path: join(directory, 'sda'), [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}

test('a file in the place of a disk is not opened: it would be erased in its stead', async () => {
  await using file = await fileWith(4_096);
  const opened = openDevice({ name: 'sda', path: file.path, deviceNumber: '8:0', numberOf: blockDeviceNumber });
  await assert.rejects(opened, { code: 'DiskFailed', message: /is no block device; expected sda, which is 8:0/ });
});

test('another device under the name of the disk is not opened', async () => {
  await using file = await fileWith(4_096);
  const opened = openDevice({ name: 'sda', path: file.path, deviceNumber: '8:0', numberOf: () => '8:16' });
  await assert.rejects(opened, { message: /sda is 8:16; expected sda, which is 8:0/ });
});

test('a disk whose number nobody knows is not opened', async () => {
  await using file = await fileWith(4_096);
  const opened = openDevice({ name: 'sda', path: file.path, deviceNumber: '', numberOf: () => '' });
  await assert.rejects(opened, { code: 'DiskFailed' });
});

test('what was written is read back, and nothing besides is touched', async () => {
  await using file = await fileWith(12_288);
  const deviceNumber = inode(await stat(file.path));
  {
    await using device = await openDevice({ name: 'sda', path: file.path, deviceNumber, numberOf: inode });
    await device.write(alignedBuffer(4_096), 4_096);
    await device.flush();
    const back = alignedBuffer(4_096).fill(1);
    await device.read(back, 4_096);
    assert.ok(back.every((byte) => byte === 0));
  }
  const expected = Buffer.concat([Buffer.alloc(4_096, 7), Buffer.alloc(4_096), Buffer.alloc(4_096, 7)]);
  assert.ok((await readFile(file.path)).equals(expected));
});

test('a disk that ends too early is named with the offset', async () => {
  await using file = await fileWith(8_192);
  const deviceNumber = inode(await stat(file.path));
  await using device = await openDevice({ name: 'sda', path: file.path, deviceNumber, numberOf: inode });
  await assert.rejects(device.read(alignedBuffer(8_192), 4_096), {
    code: 'DiskFailed',
    message: 'sda: read at offset 8192: the device ends there',
  });
});

const numbers: [rdev: number, string][] = [
  [0x800, '8:0'],
  [0x810, '8:16'],
  [0x10300, '259:0'],
  [0x10_3ff, '259:255'],
  [0x11_0300, '259:256'],
  [0xfd03, '253:3'],
];
for (const [rdev, expected] of numbers) {
  test(`the device number ${rdev} is written as ${expected}, as sysfs does`, () => {
    // Only the constructor that Node deprecates takes a device number; an object with the two members will do.
    const stats = Object.assign(Object.create(Stats.prototype) as Stats, { rdev, isBlockDevice: () => true });
    assert.equal(blockDeviceNumber(stats), expected);
  });
}

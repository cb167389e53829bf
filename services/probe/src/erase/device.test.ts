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

test('a regular file with the name of a disk is not opened', async () => {
  await using file = await fileWith(4_096);
  const opened = openDevice({ name: 'sda', path: file.path, deviceNumber: '8:0', numberOf: blockDeviceNumber });
  await assert.rejects(opened, { code: 'DiskFailed', message: /is no block device; expected sda, which is 8:0/ });
});

test('another device with the name of the disk is not opened', async () => {
  await using file = await fileWith(4_096);
  const opened = openDevice({ name: 'sda', path: file.path, deviceNumber: '8:0', numberOf: () => '8:16' });
  await assert.rejects(opened, { message: /sda is 8:16; expected sda, which is 8:0/ });
});

test('a disk without a known device number is not opened', async () => {
  await using file = await fileWith(4_096);
  const opened = openDevice({ name: 'sda', path: file.path, deviceNumber: '', numberOf: () => '' });
  await assert.rejects(opened, { code: 'DiskFailed' });
});

test('a write is read back, and the bytes around it are unchanged', async () => {
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

test('an error at the end of a device has its name and the offset', async () => {
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
  test(`the device number ${rdev} is written as ${expected}, as in sysfs`, () => {
    // Only a deprecated constructor of Node takes a device number; an object with the two members is sufficient.
    const stats = Object.assign(Object.create(Stats.prototype) as Stats, { rdev, isBlockDevice: () => true });
    assert.equal(blockDeviceNumber(stats), expected);
  });
}

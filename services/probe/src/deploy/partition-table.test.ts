import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gptImage, mbrImage, mebibyte } from '../../test/disk-fixture.ts';
import { addedPartition, efiPartitionIn, movedBackup } from './partition-table.ts';

const disk = { sizeBytes: 32 * mebibyte, sectorBytes: 512 };
const drive = { label: 'config-2', contentBytes: 100_000 };
const startOf = (image: Buffer): Buffer => Buffer.from(image.subarray(0, mebibyte));

test('an MBR gets the partition in its first free entry, at the end of the disk', () => {
  const { offset, patches } = addedPartition(startOf(mbrImage()), disk, drive);
  assert.equal(offset, disk.sizeBytes - mebibyte);
  const entry = patches[0]?.data.subarray(462, 478);
  assert.deepEqual([entry?.[4], entry?.readUInt32LE(8), entry?.readUInt32LE(12)], [0x83, offset / 512, 2_048]);
});

test('a moved backup of a GPT has the entries of the first, and both name the end of the disk', () => {
  const image = startOf(gptImage());
  const patches = movedBackup(image, disk);
  const lastSector = disk.sizeBytes / 512 - 1;
  const backup = patches.find(({ offset }) => offset === lastSector * 512)?.data;
  const primary = patches.find(({ offset }) => offset === 512)?.data;
  assert.deepEqual(
    [primary?.readBigUInt64LE(32), backup?.readBigUInt64LE(32), primary?.readBigUInt64LE(48)],
    [BigInt(lastSector), 1n, BigInt(lastSector - 33)],
  );
  const entriesAt = Number(backup?.readBigUInt64LE(72)) * 512;
  assert.ok(patches.find(({ offset }) => offset === entriesAt)?.data.equals(image.subarray(1_024, 1_024 + 16_384)));
});

test('the EFI system partition is found with its number and place', () => {
  const found = efiPartitionIn(startOf(gptImage()), 512);
  assert.deepEqual([found?.number, found?.startSector, found?.sectors], [1, 2_048n, 2_048n]);
  assert.equal(efiPartitionIn(startOf(mbrImage()), 512), undefined);
});

const full = startOf(mbrImage());
for (const at of [450, 466, 482, 498]) full.writeUInt8(0x83, at);
const broken = startOf(gptImage());
broken.writeUInt8(1, 1_024 + 40);
const problems: [string, Buffer, Partial<typeof disk>, RegExp][] = [
  ['without a table', Buffer.alloc(mebibyte, 1), {}, /has no partition table/],
  [
    'of a file system alone',
    Buffer.alloc(mebibyte).fill(Buffer.from('55aa', 'hex'), 510, 512),
    {},
    /no partition table/,
  ],
  ['with a full MBR', full, {}, /has no free entry/],
  ['with a damaged GPT', broken, {}, /invalid entries/],
  ['that fills the disk', startOf(mbrImage()), { sizeBytes: 5 * mebibyte }, /no room behind the partitions/],
  ['for other sectors', startOf(gptImage()), { sectorBytes: 4_096 }, /for sectors of 512 bytes/],
];
for (const [what, start, change, message] of problems) {
  test(`an image ${what} gets no partition`, () =>
    assert.throws(() => addedPartition(start, { ...disk, ...change }, drive), { message }));
}

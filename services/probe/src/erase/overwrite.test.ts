import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metadataRanges } from './overwrite.ts';

const mebibyte = 1_048_576;
const partition = (startMebibytes: number, sizeMebibytes: number) => ({
  name: 'sda1',
  startBytes: startMebibytes * mebibyte,
  sizeBytes: sizeMebibytes * mebibyte,
});

const cases: [string, Parameters<typeof metadataRanges>[0], [fromMebibytes: number, toMebibytes: number][]][] = [
  ['a small disk is erased as a whole', { sizeBytes: 12 * mebibyte, partitions: [] }, [[0, 12]]],
  [
    'a disk is erased at both ends and at the copies of the btrfs superblock',
    { sizeBytes: 1_000 * mebibyte, partitions: [] },
    [
      [0, 8],
      [64, 64.0625],
      [992, 1_000],
    ],
  ],
  [
    'a partition is erased at both of its ends',
    { sizeBytes: 1_000 * mebibyte, partitions: [partition(1, 100)] },
    [
      [0, 9],
      [64, 64.0625],
      [65, 65.0625],
      [93, 101],
      [992, 1_000],
    ],
  ],
  [
    'a partition beyond the end of the disk is limited to the disk',
    { sizeBytes: 20 * mebibyte, partitions: [partition(10, 100)] },
    [
      [0, 8],
      [10, 20],
    ],
  ],
];
for (const [title, disk, expected] of cases) {
  test(title, () => {
    const ranges = metadataRanges(disk).map(({ offset, sizeBytes }) => [
      offset / mebibyte,
      (offset + sizeBytes) / mebibyte,
    ]);
    assert.deepEqual(ranges, expected);
  });
}

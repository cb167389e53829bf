import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Expectation, verifySamples, placesIn, placesOn } from './samples.ts';

const gibibyte = 2 ** 30;
const offsetsOn = (sizeBytes: number, seed: string) =>
  placesOn(sizeBytes, { count: 64, seed }).map(({ offset }) => offset);

test('samples cover the start, the end and each part of the disk', () => {
  const offsets = offsetsOn(gibibyte, 'seed');
  assert.deepEqual([offsets[0], offsets.at(-1), offsets.length], [0, gibibyte - 65_536, 66]);
  const parts = new Set(offsets.map((offset) => Math.floor((offset / (gibibyte - 65_536)) * 64)));
  assert.ok(parts.size >= 63, `only ${parts.size} of 64 parts have a sample`);
  assert.ok(offsets.every((offset) => offset % 4_096 === 0));
});

test('sample offsets depend on the seed only', () => {
  assert.deepEqual(offsetsOn(gibibyte, 'a'), offsetsOn(gibibyte, 'a'));
  assert.notDeepEqual(offsetsOn(gibibyte, 'a'), offsetsOn(gibibyte, 'b'));
});

test('a disk smaller than a sample is one sample', () => {
  assert.deepEqual(placesOn(4_096, { count: 64, seed: '' }), [{ offset: 0, sizeBytes: 4_096 }]);
});

test('the samples of a range cover it without gaps and without bytes outside', () => {
  assert.deepEqual(placesIn({ offset: 512, sizeBytes: 65_536 + 512 }), [
    { offset: 512, sizeBytes: 65_536 },
    { offset: 66_048, sizeBytes: 512 },
  ]);
});

const sectors = (...values: (number | 'text')[]): Uint8Array =>
  Buffer.concat(
    values.map((value) => (value === 'text' ? Buffer.from('secret  '.repeat(64)) : Buffer.alloc(512, value))),
  );

const cases: [string, Expectation, before: Uint8Array, after: Uint8Array, RegExp | undefined][] = [
  ['zeros where zeros are expected', 'Zeros', sectors('text', 1), sectors(0, 0), undefined],
  [
    'a byte where zeros are expected',
    'Zeros',
    sectors(0, 0),
    sectors(0, 1),
    /sda: read back at offset 4608: expected zeros/,
  ],
  ['ones where zeros are expected', 'Zeros', sectors(0, 0), sectors(0, 0xff), /offset 4608/],
  ['ones where zeros or ones are expected', 'ZerosOrOnes', sectors(), sectors(0, 0xff), undefined],
  ['data where zeros or ones are expected', 'ZerosOrOnes', sectors(), sectors(0xff, 'text'), /offset 4608/],
  ['data that differs from the previous data', 'NothingOfBefore', sectors('text', 1), sectors(3, 'text'), undefined],
  [
    'one sector of previous data',
    'NothingOfBefore',
    sectors(1, 'text'),
    sectors(2, 'text'),
    /offset 4608: found the previous data/,
  ],
  ['a pattern of one byte that is still there', 'NothingOfBefore', sectors(0x41, 1), sectors(0x41, 2), /offset 4096/],
  ['an empty sample that was empty before', 'NothingOfBefore', sectors(0, 0xff), sectors(0, 0xff), undefined],
];
for (const [title, expectation, before, after, message] of cases) {
  test(`${title} ${message === undefined ? 'passes' : 'fails'}`, () => {
    const verify = () => {
      const at = (bytes: Uint8Array) => [{ offset: 4_096, sizeBytes: bytes.length, bytes }];
      verifySamples('sda', expectation, { before: at(before), after: at(after) });
    };
    if (message === undefined) verify();
    else assert.throws(verify, { code: 'DiskFailed', message });
  });
}

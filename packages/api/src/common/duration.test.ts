import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration, printDuration } from './duration.ts';

const read: [string, number][] = [
  ['0', 0],
  ['0s', 0],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['2m0s', 120_000],
  ['500ms', 500],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['1.s', 1_000],
  ['-1.5s', -1_500],
  ['+3m', 180_000],
  ['250us', 0.25],
  ['250µs', 0.25],
  ['250μs', 0.25],
  ['720h', 2_592_000_000],
  ['1s1s', 2_000],
];
for (const [text, ms] of read) test(`${text} is read as ${ms} ms`, () => assert.equal(parseDuration(text), ms));

for (const text of [
  '',
  '-',
  '1',
  '1 s',
  '1d',
  's',
  '.s',
  '1h 30m',
  '1,5s',
  '--1s',
  '1S',
  '1e3s',
  'Infinitys',
  '3000000h',
]) {
  test(`"${text}" is not a duration, as in Go`, () => assert.equal(parseDuration(text), undefined));
}

const printed: [number, string][] = [
  [0, '0s'],
  [90_000, '1m30s'],
  [120_000, '2m0s'],
  [2_592_000_000, '720h0m0s'],
  [5_400_000, '1h30m0s'],
  [1_500, '1.5s'],
  [500, '500ms'],
  [1.5, '1.5ms'],
  [0.25, '250µs'],
  [0.000_001, '1ns'],
  [-1_500, '-1.5s'],
];
for (const [ms, text] of printed) {
  test(`${ms} ms is printed as ${text}, and read back the same`, () => {
    assert.equal(printDuration(ms), text);
    assert.equal(parseDuration(text), ms);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { backOffMs } from './back-off.ts';

const rows: [failures: number, from: number, to: number][] = [
  [0, 1, 2],
  [1, 1, 2],
  [2, 2, 4],
  [6, 32, 64],
  [9, 256, 512],
  [50, 256, 512],
];
for (const [failures, from, to] of rows) {
  test(`after ${failures} failures the pause is ${from} to ${to} minutes`, () => {
    assert.equal(
      backOffMs(failures, () => 0),
      minutes(from),
    );
    assert.equal(
      backOffMs(failures, () => 0.5),
      minutes((from + to) / 2),
    );
    assert.ok(backOffMs(failures, () => 0.999) < minutes(to));
  });
}

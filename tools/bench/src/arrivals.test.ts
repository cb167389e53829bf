import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arrivals } from './arrivals.ts';

test('each arrival counts once, with its time since the start', async () => {
  let now = 5_000;
  const arrivals = new Arrivals(['a', 'b'], () => now);
  now = 6_500;
  arrivals.arrive('b');
  now = 9_000;
  arrivals.arrive('b');
  arrivals.arrive('stranger');
  arrivals.arrive('a');
  await arrivals.all(60_000);
  assert.deepEqual(
    [...arrivals.seconds],
    [
      ['b', 1.5],
      ['a', 4],
    ],
  );
});

test('the missing members are named after a period without arrivals', async () => {
  const arrivals = new Arrivals(['a', 'b']);
  arrivals.arrive('a');
  await assert.rejects(arrivals.all(10), /1 of 2 arrived, and none in the last 0.01 s; missing: b$/);
});

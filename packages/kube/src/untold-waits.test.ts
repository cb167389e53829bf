import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UntoldWaits } from './untold-waits.ts';

test('a wait is told when it has lasted three seconds', () => {
  const waits = new UntoldWaits();
  assert.equal(waits.restMs('a', 'WaitingForPower', 0), 3_000);
  assert.equal(waits.restMs('a', 'WaitingForPower', 2_000), 1_000);
  assert.equal(waits.restMs('a', 'WaitingForPower', 3_000), 0);
});

test('another wait begins anew, but nobody is silent for more than ten seconds', () => {
  const waits = new UntoldWaits();
  const rests = [0, 2_000, 4_000, 6_000, 8_000, 10_000].map((now) => waits.restMs('a', `Wait${now}`, now));
  assert.deepEqual(rests, [3_000, 3_000, 3_000, 3_000, 2_000, 0]);
});

test('what was told is over, and others are not concerned', () => {
  const waits = new UntoldWaits();
  waits.restMs('a', 'Waiting', 0);
  assert.equal(waits.restMs('b', 'Waiting', 2_000), 3_000);
  waits.delete('a');
  assert.equal(waits.restMs('a', 'Waiting', 2_500), 3_000);
});

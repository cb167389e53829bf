import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UntoldWaits } from './untold-waits.ts';

test("a wait that is nobody's concern may go untold for longer", () => {
  const waits = new UntoldWaits();
  assert.equal(waits.restMs('a', 'OthersFirst', 0, 60_000), 60_000);
  assert.equal(waits.restMs('a', 'OthersFirst', 30_000, 60_000), 30_000);
  assert.equal(waits.restMs('a', 'WaitingForPower', 30_000), -15_000, 'nothing was said for half a minute');
});

test('a wait is told when it has lasted five seconds', () => {
  const waits = new UntoldWaits();
  assert.equal(waits.restMs('a', 'WaitingForPower', 0), 5_000);
  assert.equal(waits.restMs('a', 'WaitingForPower', 2_000), 3_000);
  assert.equal(waits.restMs('a', 'WaitingForPower', 5_000), 0);
});

test('another wait begins anew, but nobody is silent for more than fifteen seconds', () => {
  const waits = new UntoldWaits();
  const rests = [0, 4_000, 8_000, 12_000, 15_000].map((now) => waits.restMs('a', `Wait${now}`, now));
  assert.deepEqual(rests, [5_000, 5_000, 5_000, 3_000, 0]);
});

test('what was told is over, and others are not concerned', () => {
  const waits = new UntoldWaits();
  waits.restMs('a', 'Waiting', 0);
  assert.equal(waits.restMs('b', 'Waiting', 2_000), 5_000);
  waits.delete('a');
  assert.equal(waits.restMs('a', 'Waiting', 2_500), 5_000);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusDebouncer } from './status-debouncer.ts';

test('a wait with a longer debounce may be unreported for longer', () => {
  const debouncer = new StatusDebouncer();
  assert.equal(debouncer.remainingMs('a', 'OthersFirst', 0, 60_000), 60_000);
  assert.equal(debouncer.remainingMs('a', 'OthersFirst', 30_000, 60_000), 30_000);
  assert.equal(
    debouncer.remainingMs('a', 'WaitingForPower', 30_000),
    -15_000,
    'nothing was reported for half a minute',
  );
});

test('a wait is reported after five seconds', () => {
  const debouncer = new StatusDebouncer();
  assert.equal(debouncer.remainingMs('a', 'WaitingForPower', 0), 5_000);
  assert.equal(debouncer.remainingMs('a', 'WaitingForPower', 2_000), 3_000);
  assert.equal(debouncer.remainingMs('a', 'WaitingForPower', 5_000), 0);
});

test('another wait starts the five seconds again, up to fifteen seconds since the last report', () => {
  const debouncer = new StatusDebouncer();
  const remaining = [0, 4_000, 8_000, 12_000, 15_000].map((now) => debouncer.remainingMs('a', `Wait${now}`, now));
  assert.deepEqual(remaining, [5_000, 5_000, 5_000, 3_000, 0]);
});

test('a report ends the debounce of its object only', () => {
  const debouncer = new StatusDebouncer();
  debouncer.remainingMs('a', 'Waiting', 0);
  assert.equal(debouncer.remainingMs('b', 'Waiting', 2_000), 5_000);
  debouncer.delete('a');
  assert.equal(debouncer.remainingMs('a', 'Waiting', 2_500), 5_000);
});

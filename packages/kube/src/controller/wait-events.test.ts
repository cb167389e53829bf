import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitEvents } from './wait-events.ts';

const minute = 60_000;

test('a wait that needs a person has one event when it has lasted for a minute', () => {
  const waits = new WaitEvents();
  const dueInMs = [0, 20_000, minute, minute + 1, 60 * minute].map((now) =>
    waits.dueInMs('a', 'NoServerMatches', { weight: 'needsPerson' }, now),
  );
  assert.deepEqual(dueInMs, [minute, 40_000, 0, Infinity, Infinity]);
});

test('a wait for a failure has its event at once, one that needs nobody when it has lasted for a quarter of an hour', () => {
  const waits = new WaitEvents();
  assert.equal(waits.dueInMs('a', 'PowerStuck', { weight: 'failed' }, 0), 0);
  assert.equal(waits.dueInMs('a', 'PowerStuck', { weight: 'failed' }, 1), Infinity);
  assert.equal(waits.dueInMs('a', 'WaitingForProbe', { weight: 'waiting' }, 2), 15 * minute);
});

test('a step of regular work has no event, however long it takes', () => {
  const waits = new WaitEvents();
  for (const entry of [{ weight: 'ok' }, { weight: 'working' }, undefined] as const)
    assert.equal(waits.dueInMs('a', 'ErasingDisks', entry, 0), Infinity);
});

test('the event of a change of phase is that of the wait after it', () => {
  const waits = new WaitEvents();
  waits.recorded('a', 'PowerStuck', 0);
  assert.equal(waits.dueInMs('a', 'PowerStuck', { weight: 'failed' }, 0), Infinity);
  waits.delete('a');
  assert.equal(waits.dueInMs('a', 'PowerStuck', { weight: 'failed' }, 0), 0);
});

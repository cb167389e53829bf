import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from './durations.ts';
import { fakeClock } from '../../test/fake-clock.ts';
import { InFlightLimiter } from './in-flight-limiter.ts';

/** Two slots, for ten seconds each. */
function openLimiter() {
  const clock = fakeClock();
  const limiter = new InFlightLimiter({ clock, maxInFlight: 2, slotTimeoutMs: seconds(10) });
  const released: string[] = [];
  limiter.released.on((name) => released.push(name));
  return { clock, limiter, released };
}

test('slots are free until the maximum is in flight, and again after a release', () => {
  const { limiter, released } = openLimiter();
  assert.equal(limiter.available, 2);
  limiter.acquire('a');
  limiter.acquire('b');
  assert.equal(limiter.available, 0);
  limiter.release('a');
  limiter.release('a');
  assert.deepEqual([limiter.available, limiter.has('a'), limiter.has('b'), released], [1, false, true, ['a']]);
});

test('the slot timeout releases a slot, and a second acquire does not extend it', () => {
  const { clock, limiter, released } = openLimiter();
  limiter.acquire('a');
  clock.advance(seconds(6));
  limiter.acquire('a');
  assert.equal(clock.pending, 1);
  limiter.acquire('b');
  clock.advance(seconds(4));
  assert.deepEqual([released, limiter.available], [['a'], 1]);
  clock.advance(seconds(6));
  assert.deepEqual([released, limiter.available], [['a', 'b'], 2]);
});

test('acquire may exceed the maximum; no slot is free until enough are released', () => {
  const { limiter } = openLimiter();
  for (const name of ['a', 'b', 'c']) limiter.acquire(name);
  limiter.release('a');
  assert.equal(limiter.available, 0);
});

test('dispose disposes all timers and emits nothing', () => {
  const { clock, limiter, released } = openLimiter();
  limiter.acquire('a');
  limiter[Symbol.dispose]();
  assert.deepEqual([clock.pending, released], [0, []]);
});

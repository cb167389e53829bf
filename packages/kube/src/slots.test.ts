import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handClock } from './hand-clock.ts';
import { Slots } from './slots.ts';

test('who waits for a place gets it in turn, or leaves when it takes too long', async () => {
  const slots = new Slots(1);
  const clock = handClock();
  assert.equal(await slots.acquireWithin(5_000, clock), true);
  const second = slots.acquireWithin(5_000, clock);
  slots.release();
  assert.equal(await second, true);
  assert.equal(clock.pending, 0, 'its patience is not tried any more');
  const third = slots.acquireWithin(5_000, clock);
  clock.advance(5_000);
  assert.equal(await third, false);
  slots.release();
  assert.equal(slots.active, 0, 'the place was not given to one that had left');
});

test('a place that is lent away is free for others', async () => {
  const slots = new Slots(1);
  assert.equal(slots.tryAcquire(), true);
  const work = Promise.withResolvers<string>();
  let offered = false;
  const lent = slots.lend(
    () => work.promise,
    () => (offered = slots.tryAcquire()),
  );
  assert.equal(offered, true, 'somebody else works meanwhile');
  work.resolve('done');
  let back = false;
  void lent.then(() => (back = true));
  await Promise.resolve();
  assert.equal(back, false, 'who comes back waits for a place');
  slots.release();
  assert.equal(await lent, 'done');
  assert.equal(slots.active, 1);
});

test('a failure of the work comes back with the place', async () => {
  const slots = new Slots(1);
  slots.tryAcquire();
  await assert.rejects(
    slots.lend(
      () => Promise.reject(new Error('no')),
      () => undefined,
    ),
    /no/,
  );
  assert.equal(slots.active, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots } from './slots.ts';

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

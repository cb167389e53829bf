import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../runtime/fake-clock.ts';
import { Semaphore } from './semaphore.ts';

test('who waits for a place gets it in turn, or leaves when it takes too long', async () => {
  const semaphore = new Semaphore(1);
  const clock = fakeClock();
  assert.equal(await semaphore.tryAcquireFor(5_000, clock), true);
  const second = semaphore.tryAcquireFor(5_000, clock);
  semaphore.release();
  assert.equal(await second, true);
  assert.equal(clock.pending, 0, 'its patience is not tried any more');
  const third = semaphore.tryAcquireFor(5_000, clock);
  clock.advance(5_000);
  assert.equal(await third, false);
  semaphore.release();
  assert.equal(semaphore.active, 0, 'the place was not given to one that had left');
});

test('a place that is lent away is free for others', async () => {
  const semaphore = new Semaphore(1);
  assert.equal(semaphore.tryAcquire(), true);
  const work = Promise.withResolvers<string>();
  let acquired = false;
  const released = semaphore.releaseWhile(
    () => work.promise,
    () => (acquired = semaphore.tryAcquire()),
  );
  assert.equal(acquired, true, 'somebody else works meanwhile');
  work.resolve('done');
  let reacquired = false;
  void released.then(() => (reacquired = true));
  await Promise.resolve();
  assert.equal(reacquired, false, 'who comes back waits for a place');
  semaphore.release();
  assert.equal(await released, 'done');
  assert.equal(semaphore.active, 1);
});

test('a failure of the work comes back with the place', async () => {
  const semaphore = new Semaphore(1);
  semaphore.tryAcquire();
  await assert.rejects(
    semaphore.releaseWhile(
      () => Promise.reject(new Error('no')),
      () => undefined,
    ),
    /no/,
  );
  assert.equal(semaphore.active, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../test/fake-clock.ts';
import { Semaphore } from './semaphore.ts';

test('a waiting caller gets the released slot, or false after the timeout', async () => {
  const semaphore = new Semaphore(1);
  const clock = fakeClock();
  assert.equal(await semaphore.tryAcquireFor(5_000, clock), true);
  const second = semaphore.tryAcquireFor(5_000, clock);
  semaphore.release();
  assert.equal(await second, true);
  assert.equal(clock.pending, 0, 'the timer is disposed');
  const third = semaphore.tryAcquireFor(5_000, clock);
  clock.advance(5_000);
  assert.equal(await third, false);
  semaphore.release();
  assert.equal(semaphore.active, 0, 'a caller that timed out gets no slot');
});

test('a slot that is released during work is free for others', async () => {
  const semaphore = new Semaphore(1);
  assert.equal(semaphore.tryAcquire(), true);
  const work = Promise.withResolvers<string>();
  let acquired = false;
  const released = semaphore.releaseWhile(
    () => work.promise,
    () => (acquired = semaphore.tryAcquire()),
  );
  assert.equal(acquired, true, 'another caller has the slot meanwhile');
  work.resolve('done');
  let reacquired = false;
  void released.then(() => (reacquired = true));
  await Promise.resolve();
  assert.equal(reacquired, false, 'the first caller waits for a slot');
  semaphore.release();
  assert.equal(await released, 'done');
  assert.equal(semaphore.active, 1);
});

test('the slot is reacquired when the work fails', async () => {
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

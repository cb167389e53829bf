import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../test/fake-clock.ts';
import { WorkQueue } from './work-queue.ts';

function openQueue() {
  const clock = fakeClock();
  return { clock, queue: new WorkQueue({ clock, random: () => 1 }) };
}

test('a key that is added twice is processed once', () => {
  const { queue } = openQueue();
  queue.add('a');
  queue.add('a');
  assert.equal(queue.take(), 'a');
  assert.equal(queue.take(), undefined);
});

test('a key that is being processed is held back until it is done', () => {
  const { queue } = openQueue();
  queue.add('a');
  assert.equal(queue.take(), 'a');
  queue.add('a');
  assert.equal(queue.take(), undefined);
  queue.done('a');
  assert.equal(queue.take(), 'a');
});

test('keys are taken in the order in which they became due', () => {
  const { queue, clock } = openQueue();
  queue.addAfter('late', 20);
  queue.addAfter('soon', 10);
  queue.add('now');
  clock.advance(30);
  assert.deepEqual([queue.take(), queue.take(), queue.take()], ['now', 'soon', 'late']);
});

test('of two delays the earlier one counts, whichever came first', () => {
  const { queue, clock } = openQueue();
  queue.addAfter('a', 10);
  queue.addAfter('a', 100);
  queue.addAfter('b', 100);
  queue.addAfter('b', 10);
  clock.advance(10);
  assert.deepEqual([queue.take(), queue.take()], ['a', 'b']);
  queue.done('a');
  queue.done('b');
  clock.advance(1_000);
  assert.equal(queue.take(), undefined, 'the later delay is dropped');
});

test('an immediate add cancels a delay', () => {
  const { queue, clock } = openQueue();
  queue.addAfter('a', 100);
  queue.add('a');
  assert.equal(queue.take(), 'a');
  queue.done('a');
  clock.advance(1_000);
  assert.equal(queue.take(), undefined);
});

test('the backoff doubles with failures in a row, up to five minutes, and starts again after a reset', () => {
  const { queue, clock } = openQueue();
  const pauses = Array.from({ length: 20 }, () => queue.addAfterFailure('a'));
  assert.deepEqual(pauses.slice(0, 4), [5, 10, 20, 40]);
  assert.equal(pauses.at(-1), 300_000);
  queue.resetBackoff('a');
  assert.equal(queue.addAfterFailure('a'), 5);
  assert.equal(queue.addAfterFailure('b', 60_000), 60_000, 'Retry-After may be longer');
  clock.advance(60_000);
});

test('a removed key does not become due', () => {
  const { queue, clock } = openQueue();
  queue.addAfter('a', 10);
  queue.remove('a');
  clock.advance(100);
  assert.equal(queue.take(), undefined);
});

test('a closed queue accepts no key', () => {
  const { queue, clock } = openQueue();
  queue.add('a');
  queue.addAfter('b', 10);
  queue.close();
  queue.add('c');
  clock.advance(100);
  assert.equal(queue.take(), undefined);
});

const manyNames = (count: number) => Array.from({ length: count }, (_, index) => `old-${index}`);

test('keys of the initial list are processed 64 at once, so that a new key waits behind no more than these', () => {
  const { queue } = openQueue();
  queue.enqueueInitialList(manyNames(100));
  assert.equal(queue.depth, 100, 'all of them wait');
  queue.add('new');
  const taken = Array.from({ length: 65 }, () => queue.take());
  assert.equal(taken.at(-1), 'new');
  assert.equal(queue.take(), undefined, 'the others wait until one of the 64 is done');
  queue.done('old-0');
  assert.equal(queue.take(), 'old-64');
  assert.equal(queue.take(), undefined);
});

test('a key of the initial list that takes a second releases its slot', () => {
  const { queue, clock } = openQueue();
  queue.enqueueInitialList(manyNames(66));
  for (let place = 0; place < 64; place += 1) queue.take();
  clock.advance(999);
  assert.equal(queue.take(), undefined);
  clock.advance(1);
  assert.deepEqual([queue.take(), queue.take(), queue.take()], ['old-64', 'old-65', undefined]);
  queue.done('old-0');
  assert.equal(queue.depth, 0, 'its slot was released before');
});

test('the slot timeout of a key starts when the key is taken', () => {
  const { queue, clock } = openQueue();
  queue.enqueueInitialList(manyNames(1_000));
  clock.advance(10_000);
  queue.add('new');
  const taken = Array.from({ length: 65 }, () => queue.take());
  assert.equal(taken.at(-1), 'new');
});

test('a key of the initial list that is added again is due at once, and processed once', () => {
  const { queue } = openQueue();
  queue.enqueueInitialList(manyNames(100));
  queue.add('old-99');
  const taken = Array.from({ length: 65 }, () => queue.take());
  assert.equal(taken.at(-1), 'old-99');
  queue.done('old-99');
  for (const key of manyNames(64)) queue.done(key);
  const others = Array.from({ length: 36 }, () => queue.take());
  assert.equal(others.includes('old-99'), false);
  assert.equal(others.at(-1), undefined);
});

test('remove and close drop keys of the initial list, too', () => {
  const { queue, clock } = openQueue();
  queue.enqueueInitialList(manyNames(66));
  queue.remove('old-65');
  assert.equal(queue.depth, 65);
  queue.addAfter('old-64', 10);
  clock.advance(500);
  assert.equal(queue.depth, 65, 'its delay has moved it from the initial list to the due keys');
  queue.close();
  clock.advance(2_000);
  assert.equal(queue.depth, 0);
  queue.enqueueInitialList(['late']);
  assert.equal(queue.take(), undefined);
});

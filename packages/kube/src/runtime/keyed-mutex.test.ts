import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedMutex } from './keyed-mutex.ts';

test('work on one key runs in order, also after a failure, and does not block other keys', async () => {
  const mutex = new KeyedMutex();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = mutex.run('a', async () => {
    await gate.promise;
    order.push('first');
    throw new Error('failed');
  });
  const second = mutex.run('a', async () => order.push('second'));
  await mutex.run('b', async () => order.push('other'));
  gate.resolve();
  await assert.rejects(first, /failed/);
  await second;
  assert.deepEqual(order, ['other', 'first', 'second']);
});

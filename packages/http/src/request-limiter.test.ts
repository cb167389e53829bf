import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { OverloadedError } from './http-error.ts';
import { RequestLimiter } from './request-limiter.ts';

test('a request beyond the limit waits for a place and is rejected after the timeout', async () => {
  const clock = fakeClock();
  const overloaded = () => new OverloadedError('try again', 5);
  const limiter = new RequestLimiter({ maxConcurrent: 1, queueTimeoutMs: 3_000, overloaded, clock });
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = limiter.run(() => promise);
  const rejected = assert.rejects(
    limiter.run(() => Promise.resolve('too late')),
    { status: 503, retryAfterSeconds: 5 },
  );
  clock.advance(3_000);
  await rejected;
  const waiting = limiter.run(() => Promise.resolve('second'));
  resolve('first');
  assert.deepEqual(await Promise.all([running, waiting]), ['first', 'second']);
});

test('a request that fails releases its place', async () => {
  const clock = fakeClock();
  const overloaded = () => new OverloadedError('try again');
  const limiter = new RequestLimiter({ maxConcurrent: 1, queueTimeoutMs: 3_000, overloaded, clock });
  await assert.rejects(
    limiter.run(() => Promise.reject(new Error('broken'))),
    /broken/,
  );
  assert.equal(await limiter.run(() => Promise.resolve('next')), 'next');
});

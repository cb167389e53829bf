import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { metricsGuardOf } from './guard.ts';

/** An API server that authenticates every token, allows `good`, and may hold its responses. */
function reviewer() {
  const clock = fakeClock();
  const traffic = { reviews: 0, fails: false, held: [] as (() => void)[], holds: false };
  const raw = async ({ path, body }: { path: string; body?: unknown }): Promise<unknown> => {
    const username = JSON.stringify(body).includes('good') ? 'good' : 'bad';
    if (!path.endsWith('tokenreviews')) return { status: { allowed: username === 'good' } };
    traffic.reviews += 1;
    if (traffic.holds) await new Promise<void>((resolve) => traffic.held.push(resolve));
    if (traffic.fails) throw new KubeError({ code: 'ServerError', message: 'etcd at 10.0.0.1 is away' });
    return { status: { authenticated: true, user: { username } } };
  };
  const guard = metricsGuardOf({ raw } as unknown as Pick<KubeClient, 'raw'>, clock); // nothing else is used
  return { guard, clock, traffic };
}

test('a token is reviewed once in ten seconds', async () => {
  const { guard, clock, traffic } = reviewer();
  assert.deepEqual(await Promise.all(['good', 'bad', 'good', 'bad'].map(guard)), [true, false, true, false]);
  assert.equal(traffic.reviews, 2);
  clock.advance(9_999);
  await guard('good');
  assert.equal(traffic.reviews, 2);
  clock.advance(1);
  await guard('good');
  assert.equal(traffic.reviews, 3);
});

test('two tokens are reviewed at a time, and others get 503 after two seconds', async () => {
  const { guard, clock, traffic } = reviewer();
  traffic.holds = true;
  const [first, second, third] = ['good-1', 'good-2', 'good-3'].map(guard);
  await setImmediate();
  assert.equal(traffic.reviews, 2);
  const rejected = assert.rejects(third ?? Promise.resolve(), { status: 503, retryAfterSeconds: 5 });
  clock.advance(2_000);
  await rejected;
  for (const release of traffic.held) release();
  assert.deepEqual(await Promise.all([first, second]), [true, true]);
  assert.equal(traffic.reviews, 2, 'a request beyond the limit costs the API server nothing');
});

test('an error of the API server is 503 without its text, and the next request asks again', async () => {
  const { guard, traffic } = reviewer();
  traffic.fails = true;
  await assert.rejects(guard('good'), { status: 503, message: /cannot review the token now/ });
  traffic.fails = false;
  assert.equal(await guard('good'), true);
});

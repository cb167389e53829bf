import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import { SingleFlight } from './single-flight.ts';

function openSingleFlight(burst: number) {
  let now = 0;
  const sleepers: { until: number; wakeUp: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    setTimeout: () => ({ [Symbol.dispose]: () => {} }),
    sleep: (delayMs) => new Promise((wakeUp) => sleepers.push({ until: now + delayMs, wakeUp })),
  };
  const requested: PromiseWithResolvers<number>[] = [];
  const singleFlight = new SingleFlight<number>({ clock, everyMs: 1_000, burst });
  const run = (key = 'a') =>
    singleFlight.run(key, () => {
      const result = Promise.withResolvers<number>();
      requested.push(result);
      return result.promise;
    });
  const pass = (ms: number) => {
    now += ms;
    for (const { until, wakeUp } of sleepers) if (until <= now) wakeUp();
  };
  return { requested, run, pass };
}

test('callers that arrive during a request share the next one', async () => {
  const { requested, run } = openSingleFlight(5);
  const first = run();
  await setImmediate();
  const others = [run(), run(), run()];
  await setImmediate();
  assert.equal(requested.length, 1);
  requested[0]?.resolve(1);
  assert.equal(await first, 1, 'the first result is older than the other calls');
  await setImmediate();
  assert.equal(requested.length, 2);
  requested[1]?.resolve(2);
  assert.deepEqual(await Promise.all(others), [2, 2, 2]);
});

test('one key does not wait for another', async () => {
  const { requested, run } = openSingleFlight(1);
  void run('a');
  void run('b');
  await setImmediate();
  assert.equal(requested.length, 2);
});

test('after a burst, a key has one request per second, however many callers wait', async () => {
  const { requested, run, pass } = openSingleFlight(2);
  for (const result of [0, 1]) {
    const running = run();
    await setImmediate();
    requested[result]?.resolve(result);
    await running;
  }
  const waiting = Array.from({ length: 100 }, () => run());
  await setImmediate();
  assert.equal(requested.length, 2);
  pass(999);
  await setImmediate();
  assert.equal(requested.length, 2);
  pass(1);
  await setImmediate();
  requested[2]?.resolve(2);
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set([2]));
  assert.equal(requested.length, 3);
});

test('a failed request fails for the callers that waited for it, not for later ones', async () => {
  const { requested, run } = openSingleFlight(5);
  const first = run();
  await setImmediate();
  const waited = run();
  const failed = [assert.rejects(first, /away/), assert.rejects(waited, /away/)];
  requested[0]?.reject(new Error('away'));
  await Promise.all(failed);
  const next = run();
  await setImmediate();
  requested[1]?.resolve(1);
  assert.equal(await next, 1);
});

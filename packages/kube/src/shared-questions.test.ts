import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import { SharedQuestions } from './shared-questions.ts';

function openQuestions(burst: number) {
  let now = 0;
  const sleepers: { until: number; wake: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    setTimeout: () => ({ [Symbol.dispose]: () => {} }),
    sleep: (delayMs) => new Promise((wake) => sleepers.push({ until: now + delayMs, wake })),
  };
  const asked: PromiseWithResolvers<number>[] = [];
  const questions = new SharedQuestions<number>({ clock, everyMs: 1_000, burst });
  const ask = (key = 'a') =>
    questions.ask(key, () => {
      const answer = Promise.withResolvers<number>();
      asked.push(answer);
      return answer.promise;
    });
  const pass = (ms: number) => {
    now += ms;
    for (const { until, wake } of sleepers) if (until <= now) wake();
  };
  return { asked, ask, pass };
}

test('those who come while something is asked share the next answer', async () => {
  const { asked, ask } = openQuestions(5);
  const first = ask();
  await setImmediate();
  const others = [ask(), ask(), ask()];
  await setImmediate();
  assert.equal(asked.length, 1);
  asked[0]?.resolve(1);
  assert.equal(await first, 1, 'what was asked before they came is no answer for them');
  await setImmediate();
  assert.equal(asked.length, 2);
  asked[1]?.resolve(2);
  assert.deepEqual(await Promise.all(others), [2, 2, 2]);
});

test('one key does not wait for another', async () => {
  const { asked, ask } = openQuestions(1);
  void ask('a');
  void ask('b');
  await setImmediate();
  assert.equal(asked.length, 2);
});

test('after a burst, a key is asked about once a second, however many wait', async () => {
  const { asked, ask, pass } = openQuestions(2);
  for (const answer of [0, 1]) {
    const asking = ask();
    await setImmediate();
    asked[answer]?.resolve(answer);
    await asking;
  }
  const waiting = Array.from({ length: 100 }, () => ask());
  await setImmediate();
  assert.equal(asked.length, 2);
  pass(999);
  await setImmediate();
  assert.equal(asked.length, 2);
  pass(1);
  await setImmediate();
  asked[2]?.resolve(2);
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set([2]));
  assert.equal(asked.length, 3);
});

test('a failure is that of those who waited for it to end, and not of the next', async () => {
  const { asked, ask } = openQuestions(5);
  const first = ask();
  await setImmediate();
  const waited = ask();
  const failed = [assert.rejects(first, /away/), assert.rejects(waited, /away/)];
  asked[0]?.reject(new Error('away'));
  await Promise.all(failed);
  const next = ask();
  await setImmediate();
  asked[1]?.resolve(1);
  assert.equal(await next, 1);
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { scaledClock } from './scaled-clock.ts';

/** A process with manual time; `stall` is time in which it does nothing. */
function fakeProcess({ mock }: TestContext) {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  let at = 0;
  mock.method(performance, 'now', () => at);
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1) {
      at += 1;
      mock.timers.tick(1);
    }
  };
  const stall = (ms: number) => {
    at += ms;
    mock.timers.tick(ms);
  };
  return { pass, stall };
}

test('time passes at the given speed, also between two readings', (t) => {
  const { pass } = fakeProcess(t);
  using clock = scaledClock(10);
  const before = clock.now();
  pass(2_000);
  assert.equal(clock.now() - before, 20_000);
});

test('time in which the process is suspended does not count', (t) => {
  const { pass, stall } = fakeProcess(t);
  using clock = scaledClock(10);
  const before = clock.now();
  let isCalled = false;
  using _timer = clock.setTimeout(5_000, () => (isCalled = true));
  stall(60_000);
  assert.equal(clock.now() - before, 1_000);
  assert.equal(isCalled, false);
  pass(399);
  assert.equal(isCalled, false);
  pass(1);
  assert.equal(isCalled, true);
});

test('a timer disposed while it waits for the rest of its time does not fire', (t) => {
  const { pass, stall } = fakeProcess(t);
  using clock = scaledClock(10);
  let isCalled = false;
  const timer = clock.setTimeout(5_000, () => (isCalled = true));
  stall(10_000);
  timer[Symbol.dispose]();
  pass(1_000);
  assert.equal(isCalled, false);
});

test('an aborted signal ends a sleep', async (t) => {
  fakeProcess(t);
  using clock = scaledClock(10);
  const stop = new AbortController();
  const sleeping = assert.rejects(clock.sleep(1_000, stop.signal), /enough/);
  stop.abort(new Error('enough'));
  await sleeping;
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClock } from './clock.ts';

const hourMs = 3_600_000;

for (const [which, byMs] of [
  ['back', -hourMs],
  ['forward', hourMs],
] as const) {
  test(`a wall clock that is set ${which} changes no duration`, ({ mock }) => {
    const wall = Date.now();
    const clock = createClock();
    const before = clock.now();
    mock.method(Date, 'now', () => wall + byMs);
    const passedMs = clock.now() - before;
    assert.ok(passedMs >= 0 && passedMs < hourMs / 2, `${passedMs} ms passed`);
  });
}

test('it starts at the time of the wall clock', ({ mock }) => {
  mock.method(Date, 'now', () => 1_000_000);
  mock.method(performance, 'now', () => 7);
  assert.equal(createClock().now(), 1_000_000);
});

test('time passes at the given speed', ({ mock }) => {
  const monotonic = mock.method(performance, 'now', () => 5);
  const clock = createClock(100);
  const before = clock.now();
  monotonic.mock.mockImplementation(() => 15);
  assert.equal(clock.now() - before, 1_000);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldBytes } from '../test/held-memory.ts';
import { type Reading, readingsIn } from './payload.ts';
import { mostReadingsPerBmc, Readings } from './readings.ts';

const minute = 60_000;
const reading = (metricId: string, value = 1, property = ''): Reading => ({
  metricId,
  property,
  type: 'Gauge',
  unit: '',
  value,
});

/** Time that is moved by hand; timers run when it passes them. */
function handClock() {
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => now,
    setTimeout: (delayMs: number, callback: () => void) => {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    sleep: () => Promise.resolve(),
    pass: (ms: number) => {
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

const valuesOf = (readings: Readings) =>
  [...readings.current()].map(({ bmc, reading: { metricId, value } }) => [bmc, metricId, value]);

test('two BMCs with the same sensors keep their readings apart', () => {
  using readings = new Readings(handClock());
  readings.take('a', [reading('Inlet', 20)]);
  readings.take('b', [reading('Inlet', 30)]);
  readings.take('a', [reading('Inlet', 21)]);
  assert.deepEqual(valuesOf(readings), [
    ['a', 'Inlet', 21],
    ['b', 'Inlet', 30],
  ]);
});

test('one metric of two properties is two readings', () => {
  using readings = new Readings(handClock());
  readings.take('a', [reading('Watts', 1, '/psu/1'), reading('Watts', 2, '/psu/2')]);
  assert.equal(readings.size, 2);
});

test('a reading is shown for ten minutes and then leaves memory, asked for or not', () => {
  const clock = handClock();
  using readings = new Readings(clock);
  readings.take('a', [reading('old')]);
  clock.pass(6 * minute);
  readings.take('a', [reading('new')]);
  readings.take('b', [reading('new')]);
  clock.pass(4 * minute);
  assert.equal([...readings.current()].length, 3, 'ten minutes old is not too old');
  clock.pass(1);
  assert.deepEqual(
    valuesOf(readings).map(([bmc, metric]) => `${bmc}/${metric}`),
    ['a/new', 'b/new'],
  );
  clock.pass(20 * minute);
  assert.equal(readings.size, 0, 'nobody asked');
});

test('a BMC that invents sensors fills its own room only', () => {
  using readings = new Readings(handClock());
  const invented = Array.from({ length: mostReadingsPerBmc + 7 }, (_, index) => reading(`m${index}`));
  assert.equal(readings.take('a', invented), 7);
  assert.equal(readings.take('a', [reading('m0', 5), reading('more')]), 1, 'what is known is still renewed');
  assert.equal(readings.take('b', [reading('Inlet')]), 0);
  assert.equal(readings.size, mostReadingsPerBmc + 1);
});

test('what goes and comes again while readings are told is told once', () => {
  const clock = handClock();
  using readings = new Readings(clock);
  readings.take('a', [reading('m0'), reading('m1')]);
  readings.take('b', [reading('m0')]);
  clock.pass(10 * minute);
  const told = readings.current();
  const names = [told.next().value, told.next().value].map((one) => `${one?.bmc}/${one?.reading.metricId}`);
  clock.pass(1);
  readings.take('a', [reading('m0'), reading('m1')]);
  readings.forget('b');
  readings.take('b', [reading('m0')]);
  names.push(...[...told].map(({ bmc, reading: { metricId } }) => `${bmc}/${metricId}`));
  assert.deepEqual(names, ['a/m0', 'a/m1'], 'what grew old before its turn is not told');
});

test('a BMC that is gone takes its readings along', () => {
  using readings = new Readings(handClock());
  readings.take('a', [reading('Inlet')]);
  readings.forget('a');
  assert.equal(readings.size, 0);
});

test('labels of any length are cut', () => {
  using readings = new Readings(handClock());
  readings.take('a', [reading('x'.repeat(10_000))]);
  assert.equal([...readings.current()][0]?.reading.metricId.length, 256);
});

test('of a reading of 200 kB a tenth is kept at most', () => {
  using readings = new Readings(handClock());
  const long = 'lorem ipsum '.repeat(4_000);
  const bytes = heldBytes((index) => {
    const words = `${index}${long}`;
    const value = { MetricId: words, MetricProperty: words, MetricValue: 1, MetricValueKind: words, Units: words };
    return readings.take(`bmc-${index}`, readingsIn(Buffer.from(JSON.stringify({ MetricValues: [value] }))));
  });
  assert.ok(bytes < 20_000, `${bytes} bytes`);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import type { Reading } from './payload.ts';
import { maxReadingsPerBmc, Readings } from './readings.ts';

const minute = 60_000;
const reading = (metricId: string, value = 1, property = ''): Reading => ({
  metricId,
  property,
  type: 'Gauge',
  unit: '',
  value,
});

const valuesOf = (readings: Readings) =>
  [...readings.current()].map(({ bmc, reading: { metricId, value } }) => [bmc, metricId, value]);

test('readings of two BMCs with the same sensors are separate', () => {
  using readings = new Readings(fakeClock());
  readings.take('a', [reading('Inlet', 20)]);
  readings.take('b', [reading('Inlet', 30)]);
  readings.take('a', [reading('Inlet', 21)]);
  assert.deepEqual(valuesOf(readings), [
    ['a', 'Inlet', 21],
    ['b', 'Inlet', 30],
  ]);
});

test('a metric of two properties has two readings', () => {
  using readings = new Readings(fakeClock());
  readings.take('a', [reading('Watts', 1, '/psu/1'), reading('Watts', 2, '/psu/2')]);
  assert.equal(readings.size, 2);
});

test('a reading is exposed for ten minutes and then leaves memory, also without a scrape', () => {
  const clock = fakeClock();
  using readings = new Readings(clock);
  readings.take('a', [reading('old')]);
  clock.advance(6 * minute);
  readings.take('a', [reading('new')]);
  readings.take('b', [reading('new')]);
  clock.advance(4 * minute);
  assert.equal([...readings.current()].length, 3, 'a reading of exactly ten minutes is exposed');
  clock.advance(1);
  assert.deepEqual(
    valuesOf(readings).map(([bmc, metric]) => `${bmc}/${metric}`),
    ['a/new', 'b/new'],
  );
  clock.advance(20 * minute);
  assert.equal(readings.size, 0, 'there was no scrape');
});

test('the limit of sensors is per BMC', () => {
  using readings = new Readings(fakeClock());
  const invented = Array.from({ length: maxReadingsPerBmc + 7 }, (_, index) => reading(`m${index}`));
  assert.equal(readings.take('a', invented), 7);
  assert.equal(readings.take('a', [reading('m0', 5), reading('more')]), 1, 'a known sensor is still updated');
  assert.equal(readings.take('b', [reading('Inlet')]), 0);
  assert.equal(readings.size, maxReadingsPerBmc + 1);
});

test('a BMC that is dropped and added during the iteration appears once', () => {
  const clock = fakeClock();
  using readings = new Readings(clock);
  readings.take('a', [reading('m0'), reading('m1')]);
  readings.take('b', [reading('m0')]);
  clock.advance(10 * minute);
  const current = readings.current();
  const names = [current.next().value, current.next().value].map((one) => `${one?.bmc}/${one?.reading.metricId}`);
  clock.advance(1);
  readings.take('a', [reading('m0'), reading('m1')]);
  readings.forget('b');
  readings.take('b', [reading('m0')]);
  names.push(...[...current].map(({ bmc, reading: { metricId } }) => `${bmc}/${metricId}`));
  assert.deepEqual(names, ['a/m0', 'a/m1'], 'a reading that expires during the iteration is left out');
});

test('a deleted BMC has no readings', () => {
  using readings = new Readings(fakeClock());
  readings.take('a', [reading('Inlet')]);
  readings.forget('a');
  assert.equal(readings.size, 0);
});

test('long labels are truncated', () => {
  using readings = new Readings(fakeClock());
  readings.take('a', [reading('x'.repeat(10_000))]);
  assert.equal([...readings.current()][0]?.reading.metricId.length, 256);
});

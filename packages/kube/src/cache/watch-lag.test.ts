import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';
import { WatchLag, watchLagHistogram } from './watch-lag.ts';

function openLag() {
  let now = 0;
  const never = () => assert.fail('it only reads the time');
  const clock: Clock = { now: () => now, setTimeout: never, sleep: never };
  const histogram = watchLagHistogram(new Registry());
  const lag = new WatchLag({ clock, histogram, resource: 'servers' });
  const observed = async () => {
    const { values } = await histogram.get();
    const of = (ending: string) => values.find(({ metricName }) => metricName?.endsWith(ending))?.value ?? 0;
    return { count: of('_count'), seconds: of('_sum') };
  };
  return { lag, observed, pass: (ms: number) => (now += ms) };
}

test('the lag is the time from the response to the event of the same version', async () => {
  const { lag, observed, pass } = openLag();
  lag.wrote('5');
  lag.wrote('7');
  pass(250);
  lag.arrived('5');
  lag.arrived('6');
  pass(250);
  lag.arrived('7');
  lag.arrived('7');
  assert.deepEqual(await observed(), { count: 2, seconds: 0.75 });
});

test('after a list, events of earlier writes are not awaited', async () => {
  const { lag, observed } = openLag();
  lag.wrote('5');
  lag.forget();
  lag.arrived('5');
  assert.equal((await observed()).count, 0);
});

test('of writes without an event only the last are kept', async () => {
  const { lag, observed } = openLag();
  for (let version = 1; version <= 5_000; version += 1) lag.wrote(String(version));
  for (let version = 1; version <= 5_000; version += 1) lag.arrived(String(version));
  assert.equal((await observed()).count, 1_000);
});

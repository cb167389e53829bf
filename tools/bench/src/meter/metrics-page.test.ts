import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundOf, MetricsPage } from './metrics-page.ts';

const page = new MetricsPage(`# TYPE lag histogram
lag_bucket{le="0.1",resource="servers"} 90
lag_bucket{le="1",resource="servers"} 99
lag_bucket{le="+Inf",resource="servers"} 100
lag_bucket{le="0.1",resource="bmcs"} 10
lag_bucket{le="1",resource="bmcs"} 10
lag_bucket{le="+Inf",resource="bmcs"} 10
lag_sum{resource="bmcs"} 1
nodejs_eventloop_lag_p99_seconds 0.0123
nodejs_eventloop_lag_p99_seconds_other 7
`);

test('a value is read by its full name', () => {
  assert.equal(page.value('nodejs_eventloop_lag_p99_seconds'), 0.0123);
  assert.equal(page.value('nodejs_eventloop_lag'), undefined);
});

test('buckets of all labels are added', () =>
  assert.deepEqual(
    [...page.buckets('lag')],
    [
      [0.1, 100],
      [1, 109],
      [Infinity, 110],
    ],
  ));

const bounds: [number, number | undefined][] = [
  [50, 0.1],
  [99, 1],
  [100, Infinity],
];
for (const [percent, expected] of bounds)
  test(`${percent} per cent lie below a bound of the histogram`, () =>
    assert.equal(boundOf(percent, new Map(), page.buckets('lag')), expected));

test('two equal pages have no percentile', () =>
  assert.equal(boundOf(99, page.buckets('lag'), page.buckets('lag')), undefined));

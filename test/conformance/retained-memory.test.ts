import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AlertLabelSets } from '@metal/events/alert-labels.ts';
import { alertsIn, readingsIn } from '@metal/events/payload.ts';
import { Readings } from '@metal/events/readings.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { jsonOf, parse, errorFromResponse } from '@metal/redfish/http/parse-response.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import * as z from 'zod';

// Text from BMCs is truncated before it is stored; in V8 a substring retains its whole string.

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Retained heap bytes per created object. */
function heldBytes(make: (index: number) => unknown): number {
  const count = 200;
  make(-1);
  const before = usedHeap();
  const held = Array.from({ length: count }, (_, index) => make(index));
  const bytes = (usedHeap() - before) / count;
  return held.length === count ? bytes : Number.NaN;
}

function usedHeap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const long = 'lorem ipsum '.repeat(4_000);

const request = { origin: 'https://10.0.0.7:443', method: 'GET', path: '/redfish/v1/' };
const response = (status: number, text: string) => ({ status, headers: {}, text });

const rows: [title: string, textOf: (text: string) => string, read: (text: string) => unknown][] = [
  ['an error page', (text) => `<html>${text}`, (text) => errorFromResponse(response(500, text), request, 0)],
  [
    'a long explanation',
    (text) => JSON.stringify({ error: { message: text } }),
    (text) => errorFromResponse(response(400, text), request, 0),
  ],
  ['a page instead of JSON', (text) => `<html>${text}`, (text) => jsonOf(response(200, text), request)],
  ['JSON that is cut off', (text) => `{"Name": "${text}`, (text) => jsonOf(response(200, text), request)],
  [
    'JSON of another shape',
    (text) => JSON.stringify({ Name: [text] }),
    (text) => parse(z.object({ Name: z.string() }), jsonOf(response(200, text), request), response(200, text), request),
  ],
];

for (const [title, textOf, read] of rows) {
  test(`${title} of 48 kB is quoted in an error that retains at most a tenth of it`, () => {
    const make = (index: number): unknown => errorOf(read, textOf(`${index} ${long}`));
    assert.ok(make(0) instanceof RedfishError);
    const bytes = heldBytes(make);
    assert.ok(bytes < 4_800, `${bytes} bytes`);
  });
}

/** The text is an argument, because the stack of an error retains the scope of its function. */
function errorOf(read: (text: string) => unknown, text: string): unknown {
  try {
    return read(text);
  } catch (error) {
    return error;
  }
}

test('at most a tenth of an event of 150 kB is retained, wherever its text is truncated', () => {
  const sets = new AlertLabelSets();
  const bytes = heldBytes((index) => {
    const event = {
      MessageId: `${index}${long}`,
      Severity: `${index}${long}`,
      OriginOfCondition: `/${index}${long}/component-of-that-path`,
    };
    return alertsIn(Buffer.from(JSON.stringify({ Events: [event] }))).map((one) => sets.of(`bmc-${index}`, one));
  });
  assert.ok(bytes < 15_000, `${bytes} bytes`);
});

test('at most a tenth of a reading of 200 kB is retained', () => {
  using readings = new Readings(fakeClock());
  const bytes = heldBytes((index) => {
    const text = `${index}${long}`;
    const value = { MetricId: text, MetricProperty: text, MetricValue: 1, MetricValueKind: text, Units: text };
    return readings.take(`bmc-${index}`, readingsIn(Buffer.from(JSON.stringify({ MetricValues: [value] }))));
  });
  assert.ok(bytes < 20_000, `${bytes} bytes`);
});

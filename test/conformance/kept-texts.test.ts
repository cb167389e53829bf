import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AlertLabelSets } from '@metal/events/alert-labels.ts';
import { alertsIn, readingsIn } from '@metal/events/payload.ts';
import { Readings } from '@metal/events/readings.ts';
import { handClock } from '@metal/kube/hand-clock.ts';
import { jsonOf, parse, refusalOf } from '@metal/redfish/answer.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import * as z from 'zod';

// What BMCs say is cut before it is kept; V8 holds the whole of a text for the sake of a part that is cut out of it.

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap that are held by what is made, for one of many. */
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

const asked = { origin: 'https://10.0.0.7:443', method: 'GET', path: '/redfish/v1/' };
const answer = (status: number, text: string) => ({ status, headers: {}, text });

const rows: [title: string, textOf: (words: string) => string, judge: (text: string) => unknown][] = [
  ['an error page', (words) => `<html>${words}`, (text) => refusalOf(answer(500, text), asked, 0)],
  [
    'a long explanation',
    (words) => JSON.stringify({ error: { message: words } }),
    (text) => refusalOf(answer(400, text), asked, 0),
  ],
  ['a page instead of JSON', (words) => `<html>${words}`, (text) => jsonOf(answer(200, text), asked)],
  ['JSON that is cut off', (words) => `{"Name": "${words}`, (text) => jsonOf(answer(200, text), asked)],
  [
    'JSON of another shape',
    (words) => JSON.stringify({ Name: [words] }),
    (text) => parse(z.object({ Name: z.string() }), jsonOf(answer(200, text), asked), answer(200, text), asked),
  ],
];

for (const [title, textOf, judge] of rows) {
  test(`${title} of 48 kB is quoted in an error that holds a tenth of it at most`, () => {
    const make = (index: number): unknown => errorOf(judge, textOf(`${index} ${long}`));
    assert.ok(make(0) instanceof RedfishError);
    const bytes = heldBytes(make);
    assert.ok(bytes < 4_800, `${bytes} bytes`);
  });
}

/** The text is an argument: what a function has around it is held by the stacks of its errors. */
function errorOf(judge: (text: string) => unknown, text: string): unknown {
  try {
    return judge(text);
  } catch (error) {
    return error;
  }
}

test('of an event of 150 kB a tenth is kept at most, however long its words are and wherever they are cut', () => {
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

test('of a reading of 200 kB a tenth is kept at most', () => {
  using readings = new Readings(handClock());
  const bytes = heldBytes((index) => {
    const words = `${index}${long}`;
    const value = { MetricId: words, MetricProperty: words, MetricValue: 1, MetricValueKind: words, Units: words };
    return readings.take(`bmc-${index}`, readingsIn(Buffer.from(JSON.stringify({ MetricValues: [value] }))));
  });
  assert.ok(bytes < 20_000, `${bytes} bytes`);
});

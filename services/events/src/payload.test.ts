import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertsIn, readingsIn } from './payload.ts';

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const alertOf = (event: object) => alertsIn(bytes({ Events: [event] }))[0];
const readingOf = (value: object) => readingsIn(bytes({ MetricValues: [value] }))[0];

test('events are read from Events, and from Alerts where that is empty', () => {
  const [one, other] = [{ MessageId: 'one' }, { MessageId: 'other' }];
  const idsIn = (body: object) => alertsIn(bytes(body)).map(({ messageId }) => messageId);
  assert.deepEqual(idsIn({ Events: [one], Alerts: [other] }), ['one']);
  assert.deepEqual(idsIn({ Events: [], Alerts: [other] }), ['other']);
  assert.deepEqual(idsIn({ Events: null, Alerts: [other] }), ['other']);
  assert.deepEqual(idsIn({ Alerts: [one, other] }), ['one', 'other']);
  assert.deepEqual(idsIn({ '@odata.type': '#Event.v1_7_0.Event' }), []);
});

test('the newer fields for severity and message take precedence', () => {
  assert.equal(alertOf({ MessageSeverity: 'Critical', Severity: 'OK' })?.severity, 'Critical');
  assert.equal(alertOf({ Severity: 'Warning' })?.severity, 'Warning');
  assert.equal(alertOf({ MessageId: 'A.1', EventId: '7' })?.messageId, 'A.1');
  assert.equal(alertOf({ EventId: '7' })?.messageId, '7');
  assert.deepEqual([alertOf({})?.severity, alertOf({ MessageId: null, EventId: 7 })?.messageId], ['', '']);
});

const origins: [string, unknown, string][] = [
  ['a link', { '@odata.id': '/redfish/v1/Chassis/1/Power' }, 'Power'],
  ['a path alone', '/redfish/v1/Systems/System.Embedded.1', 'System.Embedded.1'],
  ['a path that ends in a slash', '/redfish/v1/Systems/1/', '1'],
  ['nothing', undefined, 'system'],
  ['null', null, 'system'],
  ['an empty path', '', 'system'],
  ['an object without a link', {}, 'system'],
  ['a number', 7, 'system'],
];
for (const [title, OriginOfCondition, component] of origins) {
  test(`an origin that is ${title} is the component ${component}`, () =>
    assert.equal(alertOf({ OriginOfCondition })?.component, component));
}

const events: [object, boolean][] = [
  [{ MessageId: 'ResourceEvent.1.0.ResourceStatusChangedCritical' }, true],
  [{ EventType: 'StatusChange', MessageId: 'x' }, true],
  [{ MessageId: 'iLOEvents.2.3.ServerPoweredOff' }, true],
  [{ MessageId: 'SYS1001', Message: 'System is turning off.' }, true],
  [{ MessageId: 'USR0030', Message: 'Successfully logged in using root.' }, false],
  [{ MessageId: 'TMP0118', Message: 'The system inlet temperature is less than the lower threshold.' }, false],
];
for (const [event, expected] of events) {
  test(`${JSON.stringify(event)} ${expected ? 'is' : 'is not'} about power or state`, () =>
    assert.equal(alertOf(event)?.aboutState, expected));
}

const values: [unknown, number | undefined][] = [
  ['21.5', 21.5],
  [21.5, 21.5],
  ['-4', -4],
  ['1e3', 1_000],
  [0, 0],
  ['', undefined],
  [' ', undefined],
  ['n/a', undefined],
  ['Infinity', undefined],
  [null, undefined],
  [true, undefined],
];
for (const [MetricValue, expected] of values) {
  test(`the metric value ${JSON.stringify(MetricValue)} is ${expected ?? 'no reading'}`, () =>
    assert.equal(readingOf({ MetricId: 'x', MetricValue })?.value, expected));
}

test('a reading without a type gets one by its ID, and one without a unit an empty one', () => {
  assert.deepEqual(
    readingOf({ MetricId: 'Fan', MetricProperty: '/p', MetricValue: 1, MetricValueKind: 'Speed', Units: 'RPM' }),
    {
      metricId: 'Fan',
      property: '/p',
      type: 'Speed',
      unit: 'RPM',
      value: 1,
    },
  );
  const [inlet, fan] = [
    readingOf({ MetricId: 'InletTEMP', MetricValue: 1 }),
    readingOf({ MetricId: 'Fan', MetricValue: 1 }),
  ];
  assert.deepEqual([inlet?.type, inlet?.unit, fan?.type, fan?.unit], ['Temperature', '', 'Gauge', '']);
});

test('an unreadable value does not affect the others', () => {
  const found = readingsIn(
    bytes({ MetricValues: [7, null, { MetricId: 'a', MetricValue: 'x' }, { MetricId: 'b', MetricValue: '2' }] }),
  );
  assert.deepEqual(
    found.map(({ metricId }) => metricId),
    ['b'],
  );
});

for (const [title, text] of [
  ['that is no JSON', '{"Events": ['],
  ['that is empty', ''],
  ['that is a list', '[]'],
  ['that is a word', '"Events"'],
  ['with a word for a list', '{"Events": "x", "MetricValues": "x"}'],
] as const) {
  test(`a body ${title} is rejected`, () => {
    const body = new TextEncoder().encode(text);
    assert.throws(() => alertsIn(body), { status: 400, message: `the body cannot be decoded (${body.length} bytes)` });
    assert.throws(() => readingsIn(body), { status: 400 });
  });
}

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { mintEventToken } from '@metal/api/wire/event-token.ts';
import { createAuthority } from '@metal/controlplane/certificates.ts';
import { startEvents } from '@metal/events/events.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { type Testenv, startTestenv } from '@metal/testenv/testenv.ts';
import { fetchTrusting } from '@metal/probe/fetch-trusting.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { pino } from 'pino';
import { Registry } from 'prom-client';

let testenv: Testenv;
let nodes: { one: Node; other: Node };

before(async () => {
  // While these stories run, an idle server is not polled.
  testenv = await startTestenv({
    flags: ['--event-url=http://127.0.0.1', '--event-port=0', '--server-resync-interval=100h'],
  });
  const [one, other] = await testenv.addNodes({ generic: 1, dell: 1 });
  assert.ok(one && other);
  nodes = { one, other };
  await testenv.plugIn(one, other);
  for (const node of [one, other]) await testenv.server(node).hasReason('Available');
});
after(() => testenv[Symbol.asyncDispose]());

interface Sending {
  body?: string | object;
  method?: string;
  token?: string | undefined;
  at?: string;
  fetch?: typeof globalThis.fetch;
}

/** Sends the request of a BMC; with the valid token unless another one is given, and without one if it is undefined. */
async function push(kind: 'alerts' | 'metricsreport', bmc: string, sending: Sending = {}): Promise<[number, string]> {
  const { body = {}, method = 'POST', at = testenv.system.eventUrl ?? '', fetch = globalThis.fetch } = sending;
  const token = 'token' in sending ? sending.token : await tokenOf(bmc);
  const path = [kind, ...(token === undefined ? [] : [token]), bmc].join('/');
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${at}/serverevents/${path}`, { method, ...(method === 'POST' ? { body: text } : {}) });
  return [response.status, await response.text()];
}

const eventTokenKey = async (): Promise<Uint8Array> => {
  const { data } = await testenv.client.get(Secret, { namespace: 'default', name: 'metal-operator-boot-key' });
  return Buffer.from(data?.key ?? '', 'base64');
};

async function tokenOf(name: string): Promise<string> {
  const { metadata } = await testenv.client.get(BMC, { name });
  return mintEventToken(await eventTokenKey(), metadata.uid ?? '');
}

const alert = (MessageId: string, more: object = {}): object => ({
  Events: [{ MessageId, Severity: 'Critical', OriginOfCondition: { '@odata.id': '/redfish/v1/Chassis/1' }, ...more }],
});

/** Series of one metric, without its name. */
async function seriesOf(metric: string, registry = testenv.system.metrics): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => line.startsWith(`${metric}{`)).map((line) => line.slice(metric.length));
}

test('an event is counted under the BMC that sent it', async () => {
  const { name } = nodes.one;
  assert.deepEqual(await push('alerts', name, { body: alert('Fan.1.0.Failed') }), [200, '']);
  await push('alerts', name, { body: alert('Fan.1.0.Failed') });
  const dell = {
    Alerts: [
      { MessageSeverity: 'Warning', EventId: '2245', OriginOfCondition: '/redfish/v1/Systems/System.Embedded.1' },
    ],
  };
  assert.equal((await push('alerts', nodes.other.name, { body: dell }))[0], 200);
  assert.deepEqual(await seriesOf('redfish_event_alert_total'), [
    `{hostname="${name}",severity="Critical",message_id="Fan.1.0.Failed",component="1"} 2`,
    `{hostname="${nodes.other.name}",severity="Warning",message_id="2245",component="System.Embedded.1"} 1`,
  ]);
});

test('two BMCs with the same sensor both have series, for numeric and for text values', async () => {
  const report = (MetricValue: unknown) => ({
    MetricValues: [{ MetricId: 'InletTemp', MetricProperty: '/redfish/v1/t/1', MetricValue }],
  });
  assert.deepEqual(await push('metricsreport', nodes.one.name, { body: report('21.5') }), [200, '']);
  assert.deepEqual(await push('metricsreport', nodes.other.name, { body: report(23) }), [200, '']);
  const labels = (host: string) =>
    `{hostname="${host}",metric_id="InletTemp",type="Temperature",unit="",origin_context="/redfish/v1/t/1"}`;
  assert.deepEqual(await seriesOf('redfish_monitor_reading'), [
    `${labels(nodes.one.name)} 21.5`,
    `${labels(nodes.other.name)} 23`,
  ]);
});

test('a wrong address gets the same response whether the named BMC exists or not', async () => {
  const { one, other } = nodes;
  const token = await tokenOf(one.name);
  const rejection = [403, 'this address admits nobody; subscribe with the address that the operator gives'];
  const before = await seriesOf('redfish_event_alert_total');
  for (const [bmc, wrong] of [
    [one.name, 'A'.repeat(32)],
    ['no-such-bmc', 'A'.repeat(32)],
    [other.name, token],
    ['no-such-bmc', token],
    [one.name, undefined],
    ['no-such-bmc', undefined],
    [one.name, `${token}/${token}`],
    [one.name, ''],
  ] as const)
    assert.deepEqual(await push('alerts', bmc, { token: wrong, body: alert('X') }), rejection);
  assert.deepEqual(await seriesOf('redfish_event_alert_total'), before, 'nothing was counted');
});

test('a body that is too large or not JSON, and a method other than POST, is rejected', async () => {
  const { name } = nodes.one;
  assert.deepEqual(await push('alerts', name, { body: JSON.stringify({ Events: ['x'.repeat(1_048_576)] }) }), [
    413,
    'the body is bigger than 1 MiB',
  ]);
  assert.deepEqual(await push('metricsreport', name, { body: 'hunter2' }), [
    400,
    'the body cannot be decoded (7 bytes)',
  ]);
  for (const method of ['GET', 'PUT', 'DELETE'])
    assert.deepEqual(await push('alerts', name, { method }), [405, 'Only POST method is allowed']);
  const [status] = await push('alerts', 'no-such-bmc', { token: 'A'.repeat(32), body: 'x'.repeat(2_000_000) }).catch(
    () => [403],
  );
  assert.equal(status, 403, 'an unauthorized request is rejected before its body is read');
});

test('a BMC that invents events creates a bounded number of series', async () => {
  const { name } = nodes.other;
  for (let round = 0; round < 10; round += 1) {
    const Events = Array.from({ length: 200 }, (_, index) => ({
      MessageId: `invented-${round}-${index}`,
      Severity: 'OK',
    }));
    await push('alerts', name, { body: { Events } });
  }
  const series = (await seriesOf('redfish_event_alert_total')).filter((line) => line.includes(`"${name}"`));
  assert.ok(series.length <= 204, `found ${series.length}`);
  assert.ok(
    series.some((line) => line.startsWith(`{hostname="${name}",severity="OK",message_id="other",component="other"} 1`)),
  );
});

test('a power event triggers an early refresh of the machine', async () => {
  const { name, machine } = nodes.one;
  assert.equal((await testenv.server(nodes.one).exists()).status?.powerState, 'Off');
  machine.turnOn();
  await testenv.machine(nodes.one).until('is on', () => nodes.one.power === 'On');
  await push('alerts', name, { body: alert('ResourceEvent.1.2.ResourcePowerStateChanged') });
  await testenv.server(nodes.one).until('has the new power state', ({ status }) => status?.powerState !== 'Off');
});

test('a deleted BMC leaves no series behind', async () => {
  const [spare] = await testenv.addNodes({ generic: 1 });
  assert.ok(spare);
  await testenv.plugIn(spare);
  await testenv.bmc(spare).exists();
  await push('alerts', spare.name, { body: alert('X') });
  await push('metricsreport', spare.name, { body: { MetricValues: [{ MetricId: 'x', MetricValue: 1 }] } });
  const own = async () =>
    [...(await seriesOf('redfish_event_alert_total')), ...(await seriesOf('redfish_monitor_reading'))].filter((line) =>
      line.includes(`"${spare.name}"`),
    );
  assert.equal((await own()).length, 2);
  const registry = new Registry();
  await using receiver = await openReceiver(registry);
  await push('alerts', spare.name, { body: alert('X'), at: receiver.url, token: undefined });
  assert.equal((await seriesOf('redfish_event_alert_total', registry)).length, 1);
  await testenv.client.delete(BMC, { name: spare.name });
  await testenv.bmc(spare).isGone();
  assert.deepEqual(await seriesOf('redfish_event_alert_total', registry), []);
});

/** A receiver that requires no token, over the caches of the test environment. */
const openReceiver = (metrics: Registry, more: Partial<Parameters<typeof startEvents>[0]> = {}) =>
  startEvents({
    listen: { port: 0 },
    auth: 'none',
    bmcs: testenv.bmcs,
    eventTokenKey,
    onEvent: () => undefined,
    clock: testenv.clock,
    log: pino({ level: 'silent' }),
    metrics,
    ...more,
  });

test('the addresses of v0.7.0 are served without tokens, and invented names create no series', async () => {
  const registry = new Registry();
  await using open = await openReceiver(registry);
  const at = open.url;
  assert.deepEqual(await push('alerts', nodes.one.name, { at, token: undefined, body: alert('X') }), [200, '']);
  assert.equal(
    (await push('alerts', nodes.one.name, { at, body: alert('X') }))[0],
    200,
    'the name is the last segment',
  );
  for (let index = 0; index < 50; index += 1) {
    assert.equal((await push('alerts', `invented-${index}`, { at, token: undefined, body: alert('X') }))[0], 404);
    assert.equal((await push('metricsreport', `invented-${index}`, { at, token: undefined }))[0], 404);
  }
  assert.deepEqual(await seriesOf('redfish_event_alert_total', registry), [
    `{hostname="${nodes.one.name}",severity="Critical",message_id="X",component="1"} 2`,
  ]);
  assert.doesNotMatch(await registry.metrics(), /invented/);
});

test('a client above the rate limit gets 429 with Retry-After', async () => {
  await using limited = await openReceiver(new Registry(), { rateLimit: { burst: 25, perSecond: 0.01 } });
  const statuses: number[] = [];
  for (let index = 0; index < 5; index += 1)
    statuses.push((await push('alerts', 'missing', { at: limited.url, token: undefined }))[0]);
  assert.deepEqual(statuses, [404, 404, 404, 429, 429]);
});

test('a receiver with a certificate serves TLS', async () => {
  const authority = await createAuthority('story');
  const tls = await authority.issue({ commonName: 'events', ipAddresses: ['127.0.0.1'] });
  await using secure = await openReceiver(new Registry(), { tls });
  assert.match(secure.url, /^https:/);
  const fetch = fetchTrusting(authority.certificatePem);
  assert.equal(
    (await push('alerts', nodes.one.name, { at: secure.url, token: undefined, body: alert('X'), fetch }))[0],
    200,
  );
});

test('an event sent to its subscription address reaches the metrics and triggers a refresh', async () => {
  const { bmc, machine, name } = nodes.other;
  await testenv
    .bmc(nodes.other)
    .until(
      'is subscribed',
      ({ status }) =>
        (status?.eventsSubscriptionLink ?? '') !== '' && (status?.metricsReportSubscriptionLink ?? '') !== '',
    );
  const before = (await testenv.server(nodes.other).exists()).status?.powerState;
  assert.equal(before, 'Off');
  machine.turnOn();
  await testenv.machine(nodes.other).until('is on', () => nodes.other.power === 'On');
  const statuses = await bmc.sendEvent({
    severity: 'Warning',
    messageId: 'ResourceEvent.1.2.ResourcePowerStateChanged',
    message: 'The power state has changed.',
    metrics: [{ id: 'PumpSpeed', value: '7' }],
  });
  assert.deepEqual(statuses, [200, 200]);
  const readings = await seriesOf('redfish_monitor_reading');
  assert.ok(readings.some((line) => line.startsWith(`{hostname="${name}",metric_id="PumpSpeed",type="Gauge"`)));
  await testenv.server(nodes.other).until('has the new power state', ({ status }) => status?.powerState !== 'Off');
});

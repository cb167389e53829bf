import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { EventMetrics } from '@metal/events/event-metrics.ts';
import { Readings } from '@metal/events/readings.ts';
import { createClock, type Clock } from '@metal/kube/runtime/clock.ts';
import { ControllerMetrics } from '@metal/kube/controller/metrics.ts';
import { decommissionedAnnotation } from '@metal/api/wire/contract.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import { Registry } from 'prom-client';
import { exposition } from './exposition.ts';
import { exportFleet, exportTraffic } from './metrics.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
const clock: Clock = { ...createClock(), now: () => Date.parse(at(600)) };

let version = 0;
const metadata = (name: string, uid = name) => ({ name, uid, resourceVersion: String((version += 1)) });
const server = (name: string, status: NonNullable<Server['status']> = {}): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: metadata(name),
  spec: { systemUUID: name, serverClaimRef: { namespace: 'default', name: 'claim', uid: 'claim-uid' } },
  status,
});
const released = (held: Server): Server => ({ ...held, spec: { systemUUID: held.spec.systemUUID } });
const claim = (phase?: string): ServerClaim => ({
  apiVersion,
  kind: 'ServerClaim',
  metadata: { ...metadata('claim', 'claim-uid'), namespace: 'default', creationTimestamp: at(0) },
  spec: { power: 'On', image: 'x' },
  status: phase === undefined ? {} : { phase },
});
const erasure = (
  name: string,
  spec: Pick<ErasureReport['spec'], 'attempt' | 'state' | 'receivedTime'>,
): ErasureReport => ({
  apiVersion,
  kind: 'ErasureReport',
  metadata: metadata(name),
  spec: { serverRef: { name: 's', uid: 's' }, systemUUID: 's', mode: 'Purge', ...spec },
});
const bmc = (name: string, status: NonNullable<BMC['status']> = {}): BMC => ({
  apiVersion,
  kind: 'BMC',
  metadata: metadata(name),
  spec: { bmcSecretRef: { name }, protocol: { name: 'Redfish', port: 443 } },
  status,
});

function fleet() {
  const caches = {
    servers: new Store<Server>(),
    claims: new Store<ServerClaim>(),
    bmcs: new Store<BMC>(),
    erasures: new Store<ErasureReport>(),
  };
  caches.erasures.addIndexes({ server: ({ spec }) => [spec.serverRef.uid] });
  const registry = new Registry();
  const scheduler = { bindConflict: new KeyNotifier() };
  const traffic = exportTraffic(registry, caches);
  exportFleet(registry, { caches, scheduler, clock });
  /** `label=value,… number` of every sample. */
  const samples = async (name: string): Promise<string[]> =>
    ((await registry.getSingleMetric(name)?.get())?.values ?? []).map(
      ({ labels, value }) =>
        `${Object.entries(labels)
          .map(([key, text]) => `${key}=${text ?? ''}`)
          .join(',')} ${value}`,
    );
  const holding = async (name: string) => (await samples(name)).filter((sample) => sample.endsWith(' 1'));
  return { ...caches, registry, scheduler, traffic, samples, holding };
}

test('the health of a server and of a BMC is one sample with its level, and none before the first report', async () => {
  const { servers, bmcs, samples } = fleet();
  const healthy = (reason: string) => ({
    conditions: [
      { type: 'Healthy', status: 'False' as const, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  });
  servers.upsertIfNewer(server('a', healthy('HardwareCritical')));
  servers.upsertIfNewer(server('b', healthy('HealthUnknown')));
  servers.upsertIfNewer(server('c', {}));
  bmcs.upsertIfNewer(bmc('m', healthy('HardwareOK')));
  assert.deepEqual(await samples('metal_server_health'), ['server=a,state=Critical 1', 'server=b,state=Unknown 1']);
  assert.deepEqual(await samples('metal_bmc_health'), ['bmc=m,state=OK 1']);
});

test('the health of decommissioned hardware, and that its BMC does not answer, are not exported', async () => {
  const { servers, bmcs, samples } = fleet();
  const annotations = { [decommissionedAnnotation]: '2026-01-01T00:00:00Z' };
  const gone = server('gone', { state: 'Decommissioned' });
  servers.upsertIfNewer({ ...gone, metadata: { ...gone.metadata, annotations } });
  bmcs.upsertIfNewer({ ...bmc('gone-bmc'), metadata: { ...metadata('gone-bmc'), annotations } });
  for (const metric of ['metal_server_health', 'metal_bmc_health', 'metal_bmc_ready'])
    assert.deepEqual(await samples(metric), [], metric);
  assert.ok((await samples('metal_server_state')).includes('server=gone,state=Decommissioned 1'));
});

test('every server has one series per state, and exactly one of them is 1', async () => {
  const { servers, samples, holding } = fleet();
  const states =
    'Initial Discovery Available Reserved Released Cleanup Maintenance Parked Decommissioning Decommissioned Error'.split(
      ' ',
    );
  for (const state of states) servers.upsertIfNewer(server(`in-${state}`, { state, powerState: 'Off' }));
  servers.upsertIfNewer(server('new'));
  servers.upsertIfNewer(server('odd', { state: 'OfTheFuture', powerState: 'Dimmed' }));

  const all = await samples('metal_server_state');
  for (const state of states)
    assert.equal(all.filter((sample) => sample.startsWith(`server=in-${state},`)).length, states.length);
  assert.deepEqual(await holding('metal_server_state'), [
    ...states.map((state) => `server=in-${state},state=${state} 1`),
    'server=new,state=Initial 1',
    'server=odd,state=OfTheFuture 1',
  ]);
  assert.deepEqual(await holding('metal_server_power_state'), [
    ...states.map((state) => `server=in-${state},power_state=Off 1`),
    'server=new,power_state=Unknown 1',
    'server=odd,power_state=Dimmed 1',
  ]);
});

test('a duplicate condition is one series', async () => {
  const { servers, samples } = fleet();
  const ready = { type: 'Ready', status: 'False', reason: 'X', message: '', lastTransitionTime: at(0) } as const;
  servers.upsertIfNewer(server('s', { conditions: [ready, ready, { ...ready, type: 'Discovered', status: 'True' }] }));
  assert.deepEqual(await samples('metal_server_condition_status'), [
    'server=s,condition_type=Ready,status=False 1',
    'server=s,condition_type=Discovered,status=True 1',
  ]);
});

test('deleted objects have no series', async () => {
  const { servers, claims, bmcs, registry, traffic } = fleet();
  const before = await registry.metrics();
  servers.upsertIfNewer(server('gone', { state: 'Available', stateSince: at(0), powerState: 'Off' }));
  claims.upsertIfNewer(claim());
  bmcs.upsertIfNewer(bmc('gone'));
  for (const name of ['gone', 'server/gone']) {
    const observer = traffic.observerOf(name);
    observer.requestStarted?.();
    observer.sessions(1);
  }
  assert.match(await registry.metrics(), /bmc="gone"[^]*bmc="server\/gone"[^]*server="gone"/);

  for (const store of [servers, claims, bmcs]) store.listReplacement().commit(String(version + 1));
  assert.equal(await registry.metrics(), before);
});

test('requests to a BMC before its creation are exported once the BMC exists', async () => {
  const { bmcs, registry, traffic, samples } = fleet();
  const empty = await registry.metrics();
  const [observer] = ['b', 'endpoint/b'].map((name) => {
    const trafficObserver = traffic.observerOf(name);
    trafficObserver.sessions(1);
    return trafficObserver;
  });
  assert.equal(await registry.metrics(), empty, 'nobody knows a BMC of this name yet');
  bmcs.upsertIfNewer(bmc('b'));
  observer?.sessions(2);
  assert.deepEqual(await samples('metal_bmc_open_sessions'), ['bmc=b 2']);
  traffic.forget('b');
  assert.deepEqual(await samples('metal_bmc_open_sessions'), []);
  traffic.observerOf('b');
  assert.deepEqual(await samples('metal_bmc_open_sessions'), ['bmc=b 0'], 'it begins anew when it comes back');
});

test('reconciles of the server controller are counted by result', async () => {
  const { registry, samples } = fleet();
  const zero = ['result=success 0', 'result=error_fetch 0', 'result=error_reconcile 0'];
  assert.deepEqual(await samples('metal_server_reconciliation_total'), zero, 'also before this process leads');
  const controllerMetrics = new ControllerMetrics(registry, clock);
  for (const result of ['success', 'requeue_after', 'error'] as const)
    controllerMetrics.reconcileStarted('server')(result);
  controllerMetrics.reconcileStarted('bmc')('error');
  assert.deepEqual(await samples('metal_server_reconciliation_total'), [
    'result=success 2',
    'result=error_fetch 0',
    'result=error_reconcile 1',
  ]);
});

test('durations of states, discoveries, bindings and boots are measured from changes', async () => {
  const { servers, claims, registry } = fleet();
  const sums = async () => (await registry.metrics()).match(/^metal_\w+_duration_seconds_sum.*$/gm)?.toSorted();
  claims.upsertIfNewer(claim('Unbound'));
  servers.upsertIfNewer(server('s', { state: 'Initial', stateSince: at(0) }));
  servers.upsertIfNewer(server('s', { state: 'Discovery', stateSince: at(5) }));
  servers.upsertIfNewer(server('s', { state: 'Discovery', stateSince: at(5), powerState: 'On' }));
  servers.upsertIfNewer(server('s', { state: 'Available', stateSince: at(95) }));
  claims.upsertIfNewer(claim('Bound'));
  const reserved = { state: 'Reserved', stateSince: at(100) };
  servers.upsertIfNewer(server('s', reserved));
  for (let times = 0; times < 2; times += 1)
    servers.upsertIfNewer(server('s', { ...reserved, provisionedClaimUID: 'claim-uid' }));

  assert.deepEqual(await sums(), [
    'metal_bmc_request_duration_seconds_sum 0',
    'metal_claim_bind_duration_seconds_sum 600',
    'metal_claim_boot_duration_seconds_sum 600',
    'metal_cleanup_duration_seconds_sum 0',
    'metal_server_discovery_duration_seconds_sum 90',
    'metal_server_phase_duration_seconds_sum{state="Available"} 5',
    'metal_server_phase_duration_seconds_sum{state="Discovery"} 90',
    'metal_server_phase_duration_seconds_sum{state="Initial"} 5',
  ]);
});

test('objects from before the start of the process count in no duration', async () => {
  const { servers, claims, registry } = fleet();
  claims.upsertIfNewer(claim('Bound'));
  servers.upsertIfNewer(server('s', { state: 'Reserved', stateSince: at(9), provisionedClaimUID: 'claim-uid' }));
  assert.doesNotMatch(await registry.metrics(), /_duration_seconds_count(?:\{.*\})? [1-9]/);
});

test('cleanup attempts are counted by result, timeouts included, and successes are timed', async () => {
  const { servers, erasures, samples, registry } = fleet();
  const inCleanup = (cleanup: object, seconds = 0) =>
    servers.upsertIfNewer(
      released(server('s', { state: 'Cleanup', stateSince: at(seconds), cleanup: { neededSince: at(0), ...cleanup } })),
    );
  erasures.upsertIfNewer(erasure('old', { attempt: 1, state: 'Succeeded', receivedTime: at(10) }));
  assert.deepEqual(await samples('metal_erasure_reports'), [' 1']);
  inCleanup({ queuedSince: at(0) });
  assert.deepEqual(await samples('metal_cleanups'), ['state=queued 1', 'state=running 0']);
  assert.deepEqual(await samples('metal_server_cleanup_needed'), ['server=s 1']);
  inCleanup({ attempt: 1, startedTime: at(600) });
  assert.deepEqual(await samples('metal_cleanups'), ['state=queued 0', 'state=running 1']);
  erasures.upsertIfNewer(erasure('one', { attempt: 1, state: 'Failed', receivedTime: at(601) }));
  inCleanup({ failedAttempts: 1 });
  inCleanup({ failedAttempts: 1, attempt: 2, startedTime: at(602) });
  erasures.upsertIfNewer(erasure('two', { attempt: 2, state: 'Running', receivedTime: at(603) }));
  inCleanup({ failedAttempts: 2 });
  inCleanup({ failedAttempts: 2, attempt: 3, startedTime: at(604) });
  erasures.upsertIfNewer(erasure('three', { attempt: 3, state: 'Running', receivedTime: at(605) }));
  const succeeded = erasure('three', { attempt: 3, state: 'Succeeded', receivedTime: at(606) });
  erasures.upsertIfNewer(succeeded);
  assert.deepEqual((await samples('metal_cleanup_attempts_total'))[0], 'result=Succeeded 0', 'nobody has judged it');
  for (let times = 0; times < 2; times += 1)
    erasures.upsertIfNewer({ ...succeeded, metadata: metadata('three'), status: { certificate: 'a.b.c' } });
  servers.upsertIfNewer(server('s', { state: 'Available', stateSince: at(634), cleanup: { startedTime: at(604) } }));
  assert.deepEqual(await samples('metal_cleanup_attempts_total'), [
    'result=Succeeded 1',
    'result=Failed 1',
    'result=Silent 1',
    'result=Waived 0',
  ]);
  assert.match(await registry.metrics(), /^metal_cleanup_duration_seconds_sum 30$/m);
  assert.deepEqual(await samples('metal_server_cleanup_needed'), []);
});

test('a bound server needs no cleanup in any state', async () => {
  const { servers, samples } = fleet();
  const failed = () => server('s', { state: 'Error', cleanup: { neededSince: at(0) } });
  servers.upsertIfNewer(failed());
  assert.deepEqual(await samples('metal_server_cleanup_needed'), []);
  servers.upsertIfNewer(released(failed()));
  assert.deepEqual(await samples('metal_server_cleanup_needed'), ['server=s 1']);
});

test('only unbound claims have the time since when they wait', async () => {
  const { claims, samples } = fleet();
  claims.upsertIfNewer(claim());
  const waiting = 'metal_claim_unbound_since_timestamp_seconds';
  assert.deepEqual(await samples(waiting), [`claim=claim,claim_namespace=default ${Date.parse(at(0)) / 1_000}`]);
  assert.deepEqual(await samples('metal_claims'), ['phase=Unbound 1', 'phase=Bound 0', 'phase=Lost 0']);
  claims.upsertIfNewer(claim('Bound'));
  assert.deepEqual(await samples(waiting), []);
});

test('requests, errors, sessions and the breaker are exported per BMC, and counters survive a new connection', async () => {
  const { bmcs, traffic, samples, scheduler } = fleet();
  bmcs.upsertIfNewer(bmc('b', { state: 'Error' }));
  const requestEvent = { method: 'GET', path: '/redfish/v1', ms: 20 };
  const first = traffic.observerOf('b');
  first.requestStarted?.();
  first.request({ ...requestEvent, status: 401, error: 'AuthenticationFailed' });
  first.sessions(1);
  const second = traffic.observerOf('b');
  second.requestStarted?.();
  second.requestStarted?.();
  second.request({ ...requestEvent, status: undefined, error: 'TimedOut' });
  second.breaker('open');
  first.sessions(0);

  assert.deepEqual(await samples('metal_bmc_requests_total'), [
    'bmc=b,method=GET,status=401 1',
    'bmc=b,method=GET,status=0 1',
  ]);
  assert.deepEqual(await samples('metal_bmc_errors_total'), [
    'bmc=b,code=AuthenticationFailed 1',
    'bmc=b,code=TimedOut 1',
  ]);
  assert.deepEqual(await samples('metal_bmc_requests_in_flight'), ['bmc=b 1']);
  assert.deepEqual(await samples('metal_bmc_open_sessions'), ['bmc=b 0']);
  assert.deepEqual(await samples('metal_bmc_breaker_open'), ['bmc=b 1']);
  assert.deepEqual(await samples('metal_bmc_ready'), ['bmc=b,reason=NotYetSeen 0']);
  assert.ok((await samples('metal_bmc_state')).includes('bmc=b,state=Error 1'));

  scheduler.bindConflict.emit('default/claim');
  assert.deepEqual(await samples('metal_claim_conflicts_total'), [' 1']);
});

async function textOf(registry: Registry): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of exposition(registry)) pieces.push(piece);
  return pieces;
}

test('the streamed exposition equals that of the library', async () => {
  const { servers, bmcs, registry, traffic } = fleet();
  for (let number = 0; number < 300; number += 1)
    servers.upsertIfNewer(server(`server-${number}`, { state: 'Available' }));
  bmcs.upsertIfNewer(bmc('a "b" \\ c', { state: 'Enabled' }));
  traffic.observerOf('a "b" \\ c').requestStarted?.();
  const pieces = await textOf(registry);
  assert.ok(pieces.length > registry.getMetricsAsArray().length, 'many samples come in more than one piece');
  assert.equal(pieces.join('').trimEnd(), (await registry.metrics()).trimEnd());
});

test('readings that BMCs push are streamed under the names of v0.7.0', async () => {
  const registry = new Registry();
  using readings = new Readings(clock);
  const events = new EventMetrics(readings, registry);
  const reading = (metricId: string) => ({ metricId, property: '/a "b"', type: 'Gauge', unit: '', value: 1.5 });
  const alert = (messageId: string) => ({ severity: 'OK', messageId, component: 'system', aboutState: false });
  events.take('one', [reading('x')]);
  events.count('one', [alert('X'), alert('X'), alert('Y')]);
  events.take('gone', [reading('x')]);
  events.count('gone', [alert('X')]);
  events.forget('gone');
  assert.equal(
    (await textOf(registry)).join(''),
    `# HELP redfish_event_alert_total Events received from BMCs
# TYPE redfish_event_alert_total counter
redfish_event_alert_total{hostname="one",severity="OK",message_id="X",component="system"} 2
redfish_event_alert_total{hostname="one",severity="OK",message_id="Y",component="system"} 1

# HELP metal_event_readings_dropped_total Readings beyond the limit of sensors per BMC
# TYPE metal_event_readings_dropped_total counter

# HELP redfish_monitor_reading Last reading that a BMC pushed, exposed for ten minutes
# TYPE redfish_monitor_reading gauge
redfish_monitor_reading{hostname="one",metric_id="x",type="Gauge",unit="",origin_context="/a \\"b\\""} 1.5

`,
  );
  for (let bmc = 0; bmc < 25; bmc += 1) {
    events.take(
      `bmc-${bmc}`,
      Array.from({ length: 200 }, (_, index) => reading(`m${index}`)),
    );
    events.count(
      `bmc-${bmc}`,
      Array.from({ length: 200 }, (_, index) => alert(`X${index}`)),
    );
  }
  const lines = (await textOf(registry)).map((piece) => piece.split('\n').length);
  assert.ok(Math.max(...lines) < 2_010, `5 000 samples of a metric come in pieces, found ${lines.join(', ')} lines`);
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import { readSystem } from '@metal/redfish/resources/systems.ts';
import { BmcConnectionPool } from './connection-pool.ts';
import { refreshBmc } from './refresh-bmc.ts';
import type { BmcObservation } from './observed-bmc.ts';
import type { Connection } from './connection.ts';

/** A connection to a BMC that closes every TCP connection instead of answering. */
async function openBrokenBmc() {
  const stack = new AsyncDisposableStack();
  let requests = 0;
  const server = createServer((request) => {
    requests += 1;
    request.socket.destroy();
  });
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const clock = fakeClock();
  const bmcConnections = stack.use(new BmcConnectionPool({ clock, random: () => 0, callDeadlineMs: 60_000 }));
  const connection: Connection = {
    endpoint: { scheme: 'http', host: '127.0.0.1', port, tls: {} },
    username: 'root',
    password: new Password('calvin'),
  };
  const refresh = () => refreshBmc({ bmcConnections, clock }, 'cut', connection);
  const failure = () => bmcConnections.observedBmc('cut', connection).failure;
  return {
    bmcConnections,
    clock,
    connection,
    refresh,
    failure,
    requests: () => requests,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test('a BMC whose circuit opens during its first refresh reports the underlying error, and is retried when the circuit half-opens', async () => {
  await using brokenBmc = await openBrokenBmc();
  const { bmcConnections, clock, connection, refresh, failure } = brokenBmc;
  // The parallel reads of one refresh and their retries are enough to open the circuit.
  const bmc = bmcConnections.getBmc('cut', connection);
  while (bmc.breaker !== 'open') await assert.rejects(bmc.post('/redfish/v1/Systems', {}));
  const requestsBefore = brokenBmc.requests();
  assert.equal(await refresh(), undefined);
  assert.equal(brokenBmc.requests(), requestsBefore, 'no request was sent');
  const first = failure();
  assert.ok(first);
  assert.equal(first.error.code, 'Unreachable');
  assert.deepEqual([first.count, first.retryAt - clock.now()], [0, 2_000]);
  await assert.rejects(bmcConnections.tryLogin('cut', connection, connection, new AbortController().signal), {
    code: 'CircuitOpen',
    cause: first.error,
  });

  clock.advance(1_500);
  assert.equal(await refresh(), undefined);
  assert.deepEqual([failure()?.count, (failure()?.retryAt ?? 0) - clock.now()], [0, 1_000], 'after a pause');

  clock.advance(1_000);
  assert.equal(await refresh(), undefined);
  assert.ok(brokenBmc.requests() > requestsBefore);
  assert.deepEqual([failure()?.error.code, failure()?.since], ['Unreachable', first.since]);
});

const twoBlades: Record<string, object> = {
  '/redfish/v1/': {
    Systems: { '@odata.id': '/redfish/v1/Systems' },
    Managers: { '@odata.id': '/redfish/v1/Managers' },
  },
  '/redfish/v1/Systems': { Members: [1, 2].map((id) => ({ '@odata.id': `/redfish/v1/Systems/${id}` })) },
  '/redfish/v1/Systems/1': { UUID: 'a', Model: 'X1' },
  '/redfish/v1/Systems/2': { UUID: 'b', Model: 'X1' },
  '/redfish/v1/Managers': { Members: ['BMC', 'HGX'].map((id) => ({ '@odata.id': `/redfish/v1/Managers/${id}` })) },
  '/redfish/v1/Managers/BMC': { UUID: 'm', GraphicalConsole: { MaxConcurrentSessions: 1 } },
  '/redfish/v1/Managers/HGX': { UUID: 'h' },
};

/** A BMC with two systems and two managers, some of which answer 500. */
async function openTwoBlades() {
  const stack = new AsyncDisposableStack();
  const broken = new Map<string, number>();
  const server = createServer(({ url = '' }, response) => {
    const found = twoBlades[url];
    response.statusCode = broken.get(url) ?? (found === undefined ? 404 : 200);
    response.end(JSON.stringify(response.statusCode === 200 ? { '@odata.id': url, ...found } : {}));
  });
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const clock = fakeClock();
  const bmcConnections = stack.use(new BmcConnectionPool({ clock, random: () => 0, callDeadlineMs: 60_000 }));
  const connection: Connection = {
    endpoint: { scheme: 'http', host: '127.0.0.1', port, tls: {} },
    username: 'root',
    password: new Password('calvin'),
  };
  const refresh = (managerUuid?: string) => refreshBmc({ bmcConnections, clock }, 'bmc', connection, { managerUuid });
  return { bmcConnections, connection, broken, refresh, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
const paths = (found: BmcObservation | undefined) => found?.missing?.map(({ path }) => path);

test('a BMC with a manager that answers 500 is observed with its systems', async () => {
  await using rack = await openTwoBlades();
  rack.broken.set('/redfish/v1/Managers/HGX', 500);
  const found = await rack.refresh();
  assert.deepEqual([found?.manager?.uuid, found?.systems.length], ['m', 2]);
  assert.deepEqual(paths(found), ['/redfish/v1/Managers/HGX']);
  assert.equal(rack.bmcConnections.observedBmc('bmc', rack.connection).failure, undefined);
});

test('a system and a manager that answer 500 keep their last known values, and the others are observed', async () => {
  await using rack = await openTwoBlades();
  await rack.refresh('m');
  rack.broken.set('/redfish/v1/Systems/2', 500).set('/redfish/v1/Managers/BMC', 500);
  const found = await rack.refresh('m');
  assert.deepEqual(
    found?.systems.map(({ uuid }) => uuid),
    ['a', 'b'],
  );
  assert.equal(found?.manager?.uuid, 'm');
  assert.deepEqual(paths(found), ['/redfish/v1/Managers/BMC', '/redfish/v1/Systems/2']);
  assert.deepEqual(rack.bmcConnections.systemReporters('b'), ['bmc'], 'no other BMC may create its Server');
  rack.broken.clear();
  assert.deepEqual(paths(await rack.refresh('m')), []);
});

test('a system that is found at another URI is not kept at its former one', async () => {
  await using rack = await openTwoBlades();
  await rack.refresh();
  rack.broken.set('/redfish/v1/Systems/2', 500);
  twoBlades['/redfish/v1/Systems/1'] = { UUID: 'b' };
  const found = await rack.refresh();
  twoBlades['/redfish/v1/Systems/1'] = { UUID: 'a', Model: 'X1' };
  assert.deepEqual(
    found?.systems.map(({ uri, uuid }) => `${uri} ${uuid}`),
    ['/redfish/v1/Systems/1 b'],
  );
});

for (const status of [500, 503]) {
  test(`a BMC that answers ${status} to every request fails as a whole`, async () => {
    await using rack = await openTwoBlades();
    await rack.refresh();
    for (const path of Object.keys(twoBlades)) rack.broken.set(path, status);
    assert.equal(await rack.refresh(), undefined);
    const { failure, observation } = rack.bmcConnections.observedBmc('bmc', rack.connection);
    assert.equal(failure?.error.status, status);
    assert.deepEqual(observation?.missing, []);
  });
}

test('a failure of one of several systems makes an observation due, and is no failure of the BMC', async () => {
  await using rack = await openTwoBlades();
  const { bmcConnections, connection } = rack;
  const changed: string[] = [];
  using _listener = bmcConnections.bmcChanged.on((name) => changed.push(name));
  await rack.refresh();
  const readTwo = () => bmcConnections.withBmc('bmc', connection, (bmc) => readSystem(bmc, '/redfish/v1/Systems/2'));
  rack.broken.set('/redfish/v1/Systems/2', 500);
  await assert.rejects(readTwo, { status: 500 });
  const { failure, observation } = bmcConnections.observedBmc('bmc', connection);
  assert.deepEqual([failure, observation?.at, changed], [undefined, 0, ['bmc']]);
  rack.broken.set('/redfish/v1/Systems/2', 503);
  await assert.rejects(readTwo, { status: 503 });
  assert.equal(bmcConnections.observedBmc('bmc', connection).failure?.error.status, 503, 'the whole BMC fails');
});

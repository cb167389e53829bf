import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { BmcConnectionPool } from '@metal/operator/bmc-connections/connection-pool.ts';
import { isOwnedIn } from '@metal/operator/bmc-connections/shard-key.ts';
import { refreshBmc } from '@metal/operator/bmc-connections/refresh-bmc.ts';
import type { Connection } from '@metal/operator/bmc-connections/connection.ts';
import { evictDeletedState } from '@metal/operator/bmc-connections/eviction.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import type { RequestEvent } from '@metal/redfish/http/request-observer.ts';
import { readSystems } from '@metal/redfish/resources/systems.ts';
import { startFleet } from '@metal/simulator/fleet.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const protocol = { name: 'Redfish', port: 443 } as const;
const inline = { address: '192.0.2.1', protocol, bmcSecretRef: { name: 'x' } };
let version = 0;
const metadata = (name: string) => ({ name, uid: name, resourceVersion: String((version += 1)) });
const bmc = (name: string): BMC => ({
  apiVersion,
  kind: 'BMC',
  metadata: metadata(name),
  spec: { bmcSecretRef: { name }, protocol },
});
const endpoint = (name: string): Endpoint => ({ apiVersion, kind: 'Endpoint', metadata: metadata(name) });
const server = (name: string, spec: Partial<Server['spec']>): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: metadata(name),
  spec: { systemUUID: name, ...spec },
});

type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** A connected BMC, its objects, and the observed state. */
async function openFixture() {
  const stack = new AsyncDisposableStack();
  const fleet = stack.use(await startFleet({ https: false }));
  const { bmc: device } = await fleet.add({ vendor: 'generic' });
  const { address: host, port, username, password } = device;
  const connection: Connection = {
    endpoint: { scheme: 'http', host, port },
    username,
    password: new Password(password),
  };
  const caches = {
    bmcs: new Store<BMC>(),
    servers: new Store<Server>(),
    endpoints: new Store<Endpoint>(),
  };
  const requested = Promise.withResolvers<void>();
  const loggedOut = Promise.withResolvers<void>();
  const evicted: string[] = [];
  const traffic = {
    observerOf: () => ({
      requestStarted: () => requested.resolve(),
      request: ({ method }: RequestEvent) => void (method === 'DELETE' && loggedOut.resolve()),
      sessions: () => undefined,
      breaker: () => undefined,
    }),
    forget: (name: string) => void evicted.push(name),
  };
  const options = { clock: systemClock, random: () => 0, callDeadlineMs: 60_000 };
  const bmcConnections = stack.use(new BmcConnectionPool({ ...options, traffic, isOwned: isOwnedIn(caches) }));
  stack.use(evictDeletedState(bmcConnections, caches));
  const context = { bmcConnections, caches, clock: systemClock };
  const dispose = () => stack.disposeAsync();
  return {
    ...caches,
    device,
    connection,
    bmcConnections,
    context,
    /** A request is in flight. */
    requested: requested.promise,
    loggedOut: loggedOut.promise,
    evicted,
    /** Whether state is kept under the name: otherwise each call creates it. */
    isRemembered: (name: string, usedConnection = connection) =>
      bmcConnections.observedBmc(name, usedConnection) === bmcConnections.observedBmc(name, usedConnection),
    [Symbol.asyncDispose]: dispose,
  };
}

const departures: [title: string, depart: (fixture: Fixture, one: Server) => void][] = [
  ['is deleted', ({ servers }, one) => servers.remove(one)],
  ['refers to a BMC object now', ({ servers }) => void servers.upsertIfNewer(server('one', { bmcRef: { name: 'b' } }))],
  ['names none any more', ({ servers }) => void servers.upsertIfNewer(server('one', {}))],
];

for (const [title, depart] of departures) {
  test(`the session with the inline BMC of a server that ${title} ends, and no new one starts`, async () => {
    await using fixture = await openFixture();
    const { bmcConnections, connection, device, servers } = fixture;
    const one = server('one', { bmc: inline });
    servers.upsertIfNewer(one);
    await bmcConnections.withBmc('server/one', connection, (client) => readSystems(client));
    assert.equal(device.openSessions, 1);
    servers.upsertIfNewer(server('one', { bmc: inline, power: 'On' }));
    assert.deepEqual(fixture.evicted, [], 'another change leaves the line alone');
    depart(fixture, one);
    assert.deepEqual(fixture.evicted, ['server/one']);
    await fixture.loggedOut;
    assert.equal(device.openSessions, 0);
    await assert.rejects(
      bmcConnections.withBmc('server/one', connection, (client) => readSystems(client)),
      { code: 'Closed' },
    );
  });
}

test('an observation in progress at the deletion of its BMC leaves no state', async () => {
  await using fixture = await openFixture();
  const { bmcConnections, bmcs, connection, context, device } = fixture;
  const one = bmc('one');
  bmcs.upsertIfNewer(one);
  const refresh = refreshBmc(context, 'one', connection);
  await fixture.requested;
  bmcs.remove(one);
  assert.equal(await refresh, undefined);
  assert.equal(fixture.isRemembered('one'), false);
  const { length } = device.requests;
  assert.equal(await refreshBmc(context, 'one', connection), undefined);
  await assert.rejects(
    bmcConnections.withBmc('one', connection, (client) => readSystems(client)),
    { code: 'Closed' },
  );
  assert.equal(device.requests.length, length, 'who still has it in hand does not log in again');
});

const refreshesWithFormerPassword: [outcome: string, meanwhile: (fixture: Fixture, changed: Connection) => void][] = [
  ['succeeds', () => undefined],
  ['is rejected', ({ device }) => void (device.password = 'another')],
  ['is broken off', ({ bmcConnections }, changed) => void bmcConnections.getBmc('one', changed)],
];

for (const [outcome, meanwhile] of refreshesWithFormerPassword) {
  test(`an observation in progress at a password change that ${outcome} does not affect the new login`, async () => {
    await using fixture = await openFixture();
    const { bmcConnections, bmcs, connection, context } = fixture;
    bmcs.upsertIfNewer(bmc('one'));
    const refresh = refreshBmc(context, 'one', connection);
    await fixture.requested;
    const changed = { ...connection, password: new Password('another') };
    const memory = bmcConnections.observedBmc('one', changed);
    meanwhile(fixture, changed);
    assert.equal((await refresh) !== undefined, outcome === 'succeeds');
    assert.equal(bmcConnections.observedBmc('one', changed), memory);
    assert.deepEqual([memory.failure, memory.observation], [undefined, undefined]);
  });
}

test('an observation in progress at the recreation of its BMC does not count for the new one', async () => {
  await using fixture = await openFixture();
  const { bmcConnections, bmcs, connection, context } = fixture;
  const one = bmc('one');
  bmcs.upsertIfNewer(one);
  const refresh = refreshBmc(context, 'one', connection);
  await fixture.requested;
  bmcs.remove(one);
  bmcs.upsertIfNewer({ ...bmc('one'), metadata: { ...metadata('one'), uid: 'another' } });
  const memory = bmcConnections.observedBmc('one', connection);
  assert.equal(await refresh, undefined);
  assert.equal(bmcConnections.observedBmc('one', connection), memory);
  assert.equal(memory.failure, undefined);
});

test('the state of a BMC that was not created is removed with its Endpoint', async () => {
  await using fixture = await openFixture();
  const { endpoints, connection, context, device } = fixture;
  const one = endpoint('one');
  endpoints.upsertIfNewer(one);
  assert.ok(await refreshBmc(context, 'one', connection));
  assert.equal(device.openSessions, 1);
  endpoints.remove(one);
  assert.deepEqual(fixture.evicted, ['one']);
  await fixture.loggedOut;
  assert.equal(device.openSessions, 0);
  assert.equal(fixture.isRemembered('one'), false);
});

test('the session with a BMC survives the deletion of its Endpoint', async () => {
  await using fixture = await openFixture();
  const { bmcs, endpoints, connection, context, device } = fixture;
  const one = endpoint('one');
  endpoints.upsertIfNewer(one);
  assert.ok(await refreshBmc(context, 'one', connection));
  bmcs.upsertIfNewer(bmc('one'));
  endpoints.remove(one);
  assert.equal(fixture.isRemembered('one'), true);
  assert.deepEqual(fixture.evicted, []);
  assert.equal(device.openSessions, 1);
});

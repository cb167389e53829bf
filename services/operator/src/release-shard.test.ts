import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { ObservedAccounts } from './controllers/bmcuser/observed-accounts.ts';
import { BmcConnectionPool } from './bmc-connections/connection-pool.ts';
import {
  shardKeyOfBmcUser,
  shardKeyOfEndpoint,
  shardKeyOfConnection,
  shardKeyOfServer,
} from './bmc-connections/shard-key.ts';
import type { OperatorCaches } from './caches.ts';
import { DiscoveryLimiter } from './controllers/endpoint/discovery-limiter.ts';
import { noAttempts } from './bmc-connections/login-attempts.ts';
import { evictMovedState, releaseShard } from './release-shard.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
let version = 0;
const metadata = (name: string) => ({ name, uid: name, resourceVersion: String((version += 1)) });
const server = (name: string, bmc: string): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: metadata(name),
  spec: { systemUUID: name, bmcRef: { name: bmc } },
});
const user = (name: string, bmc: string): BMCUser => ({
  apiVersion,
  kind: 'BMCUser',
  metadata: metadata(name),
  spec: { userName: 'x', roleID: 'Administrator', bmcRef: { name: bmc } },
});
const endpoint = (name: string): Endpoint => ({ apiVersion, kind: 'Endpoint', metadata: metadata(name) });

/** What is remembered of two BMCs, a and b. */
function openState() {
  const [servers, bmcUsers, endpoints] = [new Store<Server>(), new Store<BMCUser>(), new Store<Endpoint>()];
  for (const bmc of ['a', 'b']) {
    servers.upsertIfNewer(server(`server-${bmc}`, bmc));
    bmcUsers.upsertIfNewer(user(`user-${bmc}`, bmc));
    endpoints.upsertIfNewer(endpoint(bmc));
  }
  const bmcConnections = new BmcConnectionPool({ clock: systemClock, random: () => 0, callDeadlineMs: 1_000 });
  const observedAccounts = new ObservedAccounts();
  const discoveryLimiter = new DiscoveryLimiter({ clock: systemClock, servers, maxInFlight: 1 });
  for (const bmc of ['a', 'b']) bmcConnections.recordLoginAttempts(endpoint(bmc), { ...noAttempts, rejected: 1 });
  // These are all that is looked at.
  const caches = { servers, bmcUsers, endpoints } as unknown as OperatorCaches;
  const remembered = (bmc: string) => [
    bmcConnections.observedBmc(bmc, undefined),
    bmcConnections.observedSystem(`server-${bmc}`),
    bmcConnections.loginAttempts(endpoint(bmc), 0),
    observedAccounts.of(`user-${bmc}`),
  ];
  return { bmcConnections, observedAccounts, caches, discoveryLimiter, servers, remembered };
}

test('everything that belongs to one BMC goes to one replica', () => {
  const shardKey = 'rack-1';
  assert.equal(shardKeyOfEndpoint(endpoint('rack-1')), shardKey);
  assert.equal(shardKeyOfServer(server('one', 'rack-1')), shardKey);
  assert.equal(shardKeyOfBmcUser(user('one', 'rack-1')), shardKey);
  assert.equal(shardKeyOfConnection('endpoint/rack-1'), shardKey);
  assert.equal(shardKeyOfConnection('rack-1'), shardKey);
  const inline = { ...server('one', ''), spec: { systemUUID: 'one' } };
  assert.equal(shardKeyOfServer(inline), shardKeyOfConnection('server/one'));
});

test('what is handed over is forgotten, and nothing else', async () => {
  const { bmcConnections, observedAccounts, caches, discoveryLimiter, remembered } = openState();
  const [a, b] = [remembered('a'), remembered('b')];
  using _limiter = discoveryLimiter;
  discoveryLimiter.acquire('a');
  assert.equal(discoveryLimiter.admits('b'), false);
  await releaseShard({ bmcConnections, observedAccounts, caches, discoveryLimiter }, (key) => key === 'a');
  assert.equal(discoveryLimiter.admits('b'), true, 'it does not wait for what is on its way elsewhere');
  assert.ok(remembered('a').every((observed, index) => observed !== a[index]));
  assert.ok(remembered('b').every((observed, index) => observed === b[index]));
});

test('a server that moves to a BMC of another replica is forgotten here', () => {
  const { bmcConnections, caches, servers } = openState();
  using _subscription = evictMovedState({ bmcConnections, caches }, (key) => key === 'a');
  const [one, other] = [bmcConnections.observedSystem('server-a'), bmcConnections.observedSystem('server-b')];
  servers.upsertIfNewer(server('server-a', 'elsewhere'));
  servers.upsertIfNewer(server('server-b', 'a'));
  assert.notEqual(bmcConnections.observedSystem('server-a'), one);
  assert.equal(bmcConnections.observedSystem('server-b'), other);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { BmcConnectionPool } from './connection-pool.ts';
import { shardKeyOfBmcUser, shardKeyOfEndpoint, shardKeyOfConnection, shardKeyOfServer } from './shard-key.ts';
import { evictMovedState, releaseShard } from './eviction.ts';

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

/** Observed state of two BMCs, a and b, with a server each. */
function openState() {
  const servers = new Store<Server>();
  for (const bmc of ['a', 'b']) servers.upsertIfNewer(server(`server-${bmc}`, bmc));
  const pool = new BmcConnectionPool({ clock: systemClock, random: () => 0, callDeadlineMs: 1_000 });
  const observed = (bmc: string) => [pool.observedBmc(bmc, undefined), pool.observedSystem(`server-${bmc}`)];
  return { pool, servers, observed };
}

test('all objects of one BMC have one shard key', () => {
  const shardKey = 'rack-1';
  assert.equal(shardKeyOfEndpoint(endpoint('rack-1')), shardKey);
  assert.equal(shardKeyOfServer(server('one', 'rack-1')), shardKey);
  assert.equal(shardKeyOfBmcUser(user('one', 'rack-1')), shardKey);
  assert.equal(shardKeyOfConnection('endpoint/rack-1'), shardKey);
  assert.equal(shardKeyOfConnection('rack-1'), shardKey);
  const inline = { ...server('one', ''), spec: { systemUUID: 'one' } };
  assert.equal(shardKeyOfServer(inline), shardKeyOfConnection('server/one'));
});

test('a released shard loses its observed state, and no other', async () => {
  const { pool, servers, observed } = openState();
  const [a, b] = [observed('a'), observed('b')];
  await releaseShard(pool, { servers }, (key) => key === 'a');
  assert.ok(observed('a').every((state, index) => state !== a[index]));
  assert.ok(observed('b').every((state, index) => state === b[index]));
});

test('a server that moves to a BMC of another replica loses its observed state here', () => {
  const { pool, servers } = openState();
  using _subscription = evictMovedState(pool, { servers }, (key) => key === 'a');
  const [one, other] = [pool.observedSystem('server-a'), pool.observedSystem('server-b')];
  servers.upsertIfNewer(server('server-a', 'elsewhere'));
  servers.upsertIfNewer(server('server-b', 'a'));
  assert.notEqual(pool.observedSystem('server-a'), one);
  assert.equal(pool.observedSystem('server-b'), other);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { systemClock } from '@metal/kube/clock.ts';
import { Store } from '@metal/kube/store.ts';
import { AccountMemories } from './account-memories.ts';
import { BmcAccess } from './bmc-access.ts';
import { keyOfBmcUser, keyOfEndpoint, keyOfLine, keyOfServer } from './bmc-key.ts';
import type { OperatorCaches } from './context.ts';
import { DiscoveryPace } from './discovery-pace.ts';
import { noAttempts } from './login-attempts.ts';
import { forgetTheMoved, letGo } from './hand-over.ts';

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
function memories() {
  const [servers, bmcUsers, endpoints] = [new Store<Server>(), new Store<BMCUser>(), new Store<Endpoint>()];
  for (const bmc of ['a', 'b']) {
    servers.absorb(server(`server-${bmc}`, bmc));
    bmcUsers.absorb(user(`user-${bmc}`, bmc));
    endpoints.absorb(endpoint(bmc));
  }
  const access = new BmcAccess({ clock: systemClock, random: () => 0, callDeadlineMs: 1_000 });
  const accounts = new AccountMemories();
  const discoveries = new DiscoveryPace({ clock: systemClock, servers, most: 1 });
  for (const bmc of ['a', 'b']) access.rememberLogins(endpoint(bmc), { ...noAttempts, rejected: 1 });
  // These are all that is looked at.
  const caches = { servers, bmcUsers, endpoints } as unknown as OperatorCaches;
  const remembered = (bmc: string) => [
    access.memory(bmc, undefined),
    access.system(`server-${bmc}`),
    access.logins(endpoint(bmc), 0),
    accounts.of(`user-${bmc}`),
  ];
  return { access, accounts, caches, discoveries, servers, remembered };
}

test('everything that belongs to one BMC goes to one replica', () => {
  const bmcKey = 'rack-1';
  assert.equal(keyOfEndpoint(endpoint('rack-1')), bmcKey);
  assert.equal(keyOfServer(server('one', 'rack-1')), bmcKey);
  assert.equal(keyOfBmcUser(user('one', 'rack-1')), bmcKey);
  assert.equal(keyOfLine('endpoint/rack-1'), bmcKey);
  assert.equal(keyOfLine('rack-1'), bmcKey);
  const inline = { ...server('one', ''), spec: { systemUUID: 'one' } };
  assert.equal(keyOfServer(inline), keyOfLine('server/one'));
});

test('what is handed over is forgotten, and nothing else', async () => {
  const { access, accounts, caches, discoveries, remembered } = memories();
  const [a, b] = [remembered('a'), remembered('b')];
  using _pace = discoveries;
  discoveries.enter('a');
  assert.equal(discoveries.admits('b'), false);
  await letGo({ access, accounts, caches, discoveries }, (key) => key === 'a');
  assert.equal(discoveries.admits('b'), true, 'it does not wait for what is on its way elsewhere');
  assert.ok(remembered('a').every((memory, index) => memory !== a[index]));
  assert.ok(remembered('b').every((memory, index) => memory === b[index]));
});

test('a server that moves to a BMC of another replica is forgotten here', () => {
  const { access, caches, servers } = memories();
  using _follow = forgetTheMoved({ access, caches }, (key) => key === 'a');
  const [one, other] = [access.system('server-a'), access.system('server-b')];
  servers.absorb(server('server-a', 'elsewhere'));
  servers.absorb(server('server-b', 'a'));
  assert.notEqual(access.system('server-a'), one);
  assert.equal(access.system('server-b'), other);
});

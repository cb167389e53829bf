import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { systemClock } from '@metal/kube/clock.ts';
import { Store } from '@metal/kube/store.ts';
import { AccountMemories } from '@metal/operator/account-memories.ts';
import { BmcAccess } from '@metal/operator/bmc-access.ts';
import { isOwnedIn } from '@metal/operator/bmc-key.ts';
import { lookAtBmc } from '@metal/operator/bmc-look.ts';
import { readConfig } from '@metal/operator/config.ts';
import type { Connection } from '@metal/operator/connection.ts';
import { endpointActions } from '@metal/operator/discover/endpoint/actions.ts';
import { DiscoveryPace } from '@metal/operator/discovery-pace.ts';
import { forgetTheDeleted } from '@metal/operator/forget-the-deleted.ts';
import { noAttempts } from '@metal/operator/login-attempts.ts';
import { Notices } from '@metal/operator/notices.ts';
import { Password } from '@metal/redfish/bmc.ts';
import type { RequestEvent } from '@metal/redfish/exchanges.ts';
import { readSystems } from '@metal/redfish/systems.ts';
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

type Office = Awaited<ReturnType<typeof openOffice>>;

/** A BMC that is talked to, the objects that lead to it, and what is remembered of it. */
async function openOffice() {
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
    bmcUsers: new Store<BMCUser>(),
    bmcSecrets: new Store<BMCSecret>(),
  };
  const asked = Promise.withResolvers<void>();
  const loggedOut = Promise.withResolvers<void>();
  const forgotten: string[] = [];
  const traffic = {
    observerOf: () => ({
      requestStarted: () => asked.resolve(),
      request: ({ method }: RequestEvent) => void (method === 'DELETE' && loggedOut.resolve()),
      sessions: () => undefined,
      breaker: () => undefined,
    }),
    forget: (name: string) => void forgotten.push(name),
  };
  const options = { clock: systemClock, random: () => 0, callDeadlineMs: 60_000 };
  const access = stack.use(new BmcAccess({ ...options, traffic, isOwned: isOwnedIn(caches) }));
  const discoveries = stack.use(new DiscoveryPace({ clock: systemClock, servers: caches.servers }));
  const memories = { access, discoveries, accounts: new AccountMemories(), notices: new Notices() };
  stack.use(forgetTheDeleted(caches, memories));
  const context = { ...memories, caches, clock: systemClock };
  const dispose = () => stack.disposeAsync();
  return {
    ...caches,
    device,
    connection,
    access,
    context,
    /** A request is on its way. */
    asked: asked.promise,
    loggedOut: loggedOut.promise,
    forgotten,
    /** Whether anything is kept under the name: what is not is made anew each time. */
    remembers: (name: string, over = connection) => access.memory(name, over) === access.memory(name, over),
    [Symbol.asyncDispose]: dispose,
  };
}

const departures: [title: string, depart: (office: Office, one: Server) => void][] = [
  ['is deleted', ({ servers }, one) => servers.remove(one)],
  ['refers to a BMC object now', ({ servers }) => void servers.absorb(server('one', { bmcRef: { name: 'b' } }))],
  ['names none any more', ({ servers }) => void servers.absorb(server('one', {}))],
];

for (const [title, depart] of departures) {
  test(`the session with the inline BMC of a server that ${title} is ended, and no other is begun`, async () => {
    await using office = await openOffice();
    const { access, connection, device, servers } = office;
    const one = server('one', { bmc: inline });
    servers.absorb(one);
    await access.talk('server/one', connection, (line) => readSystems(line));
    assert.equal(device.openSessions, 1);
    servers.absorb(server('one', { bmc: inline, power: 'On' }));
    assert.deepEqual(office.forgotten, [], 'another change leaves the line alone');
    depart(office, one);
    assert.deepEqual(office.forgotten, ['server/one']);
    await office.loggedOut;
    assert.equal(device.openSessions, 0);
    await assert.rejects(
      access.talk('server/one', connection, (line) => readSystems(line)),
      { code: 'Closed' },
    );
  });
}

test('a look that is under way when its BMC is deleted leaves nothing behind', async () => {
  await using office = await openOffice();
  const { access, bmcs, connection, context, device } = office;
  const one = bmc('one');
  bmcs.absorb(one);
  const look = lookAtBmc(context, 'one', connection);
  await office.asked;
  bmcs.remove(one);
  assert.equal(await look, undefined);
  assert.equal(office.remembers('one'), false);
  const { length } = device.requests;
  assert.equal(await lookAtBmc(context, 'one', connection), undefined);
  await assert.rejects(
    access.talk('one', connection, (line) => readSystems(line)),
    { code: 'Closed' },
  );
  assert.equal(device.requests.length, length, 'who still has it in hand does not log in again');
});

const looksOverFormerPassword: [outcome: string, meanwhile: (office: Office, changed: Connection) => void][] = [
  ['succeeds', () => undefined],
  ['is rejected', ({ device }) => void (device.password = 'another')],
  ['is broken off', ({ access }, changed) => void access.line('one', changed)],
];

for (const [outcome, meanwhile] of looksOverFormerPassword) {
  test(`a look that was under way when the password was changed, and ${outcome}, says nothing of the new one`, async () => {
    await using office = await openOffice();
    const { access, bmcs, connection, context } = office;
    bmcs.absorb(bmc('one'));
    const look = lookAtBmc(context, 'one', connection);
    await office.asked;
    const changed = { ...connection, password: new Password('another') };
    const memory = access.memory('one', changed);
    meanwhile(office, changed);
    assert.equal((await look) !== undefined, outcome === 'succeeds');
    assert.equal(access.memory('one', changed), memory);
    assert.deepEqual([memory.failure, memory.observation], [undefined, undefined]);
  });
}

test('a look that is under way when its BMC is made anew does not count against that', async () => {
  await using office = await openOffice();
  const { access, bmcs, connection, context } = office;
  const one = bmc('one');
  bmcs.absorb(one);
  const look = lookAtBmc(context, 'one', connection);
  await office.asked;
  bmcs.remove(one);
  bmcs.absorb({ ...bmc('one'), metadata: { ...metadata('one'), uid: 'another' } });
  const memory = access.memory('one', connection);
  assert.equal(await look, undefined);
  assert.equal(access.memory('one', connection), memory);
  assert.equal(memory.failure, undefined);
});

test('a BMC that was looked at and did not come to be goes with its Endpoint', async () => {
  await using office = await openOffice();
  const { endpoints, connection, context, device } = office;
  const one = endpoint('one');
  endpoints.absorb(one);
  assert.ok(await lookAtBmc(context, 'one', connection));
  assert.equal(device.openSessions, 1);
  endpoints.remove(one);
  assert.deepEqual(office.forgotten, ['one']);
  await office.loggedOut;
  assert.equal(device.openSessions, 0);
  assert.equal(office.remembers('one'), false);
});

test('a BMC stays logged in to when the Endpoint goes that it was made of', async () => {
  await using office = await openOffice();
  const { bmcs, endpoints, connection, context, device } = office;
  const one = endpoint('one');
  endpoints.absorb(one);
  assert.ok(await lookAtBmc(context, 'one', connection));
  bmcs.absorb(bmc('one'));
  endpoints.remove(one);
  assert.equal(office.remembers('one'), true);
  assert.deepEqual(office.forgotten, []);
  assert.equal(device.openSessions, 1);
});

test('a login that is under way when its Endpoint is deleted is not remembered', async () => {
  await using office = await openOffice();
  const { access, endpoints, connection, context, device } = office;
  const tryWrongPassword = async (name: string, meanwhile: (object: Endpoint) => void) => {
    const object = endpoint(name);
    endpoints.absorb(object);
    const defaultCredentials = [{ username: device.username, password: 'wrong' }];
    const facts = {
      ip: connection.endpoint.host,
      device: { protocol: 'Redfish', protocolScheme: 'http', port: device.port, defaultCredentials },
      logins: noAttempts,
    };
    const flags = ['--probe-image=probe', '--probe-os-image=os', '--registry-url=http://192.0.2.1:10000'];
    const turn = { object, facts, now: 0, context: { ...context, config: readConfig(flags, {}) } };
    // The action needs nothing else of a turn.
    const attempt = endpointActions.tryCredential(
      turn as unknown as Parameters<typeof endpointActions.tryCredential>[0],
    );
    await office.asked;
    meanwhile(object);
    await attempt;
    return access.logins(object, 0);
  };
  assert.equal((await tryWrongPassword('stays', () => undefined)).rejected, 1);
  assert.deepEqual(await tryWrongPassword('goes', (object) => endpoints.remove(object)), noAttempts);
  assert.deepEqual(
    await tryWrongPassword('comes back', (object) => {
      endpoints.remove(object);
      endpoints.absorb({ ...endpoint('comes back'), metadata: { ...metadata('comes back'), uid: 'another' } });
    }),
    noAttempts,
  );
});

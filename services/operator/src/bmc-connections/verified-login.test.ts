import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import { BmcConnectionPool } from './connection-pool.ts';
import type { Connection } from './connection.ts';
import { refreshBmc } from './refresh-bmc.ts';

const root = '/redfish/v1';
const basicOf = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** A BMC whose service root names these resources. It opens sessions for these users, and refuses them without a cause. */
async function openBmc({ names, sessionsOf = [] }: { names: readonly string[]; sessionsOf?: readonly string[] }) {
  const stack = new AsyncDisposableStack();
  const passwords: Record<string, string> = { root: 'calvin', second: 'valid' };
  const basic: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { url = '', method, headers } = request;
      const body = await text(request);
      const user = sessionsOf.find((name) => body.includes(`"${name}"`) && body.includes(`"${passwords[name]}"`));
      if (headers.authorization !== undefined) basic.push(headers.authorization);
      const isKnown =
        headers['x-auth-token'] === 'token' ||
        Object.entries(passwords).some(([name, password]) => headers.authorization === basicOf(name, password));
      const links = Object.fromEntries(names.map((name) => [name, { '@odata.id': `${root}/${name}` }]));
      response.statusCode = url === `${root}/` || isKnown || user !== undefined ? 200 : 401;
      if (method === 'POST' && user !== undefined) response.setHeader('x-auth-token', 'token');
      response.end(JSON.stringify(url === `${root}/` ? links : { '@odata.id': url, Members: [] }));
    })();
  });
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const clock = fakeClock();
  const bmcConnections = stack.use(new BmcConnectionPool({ clock, random: () => 0, callDeadlineMs: 60_000 }));
  const endpoint = { scheme: 'http', host: '127.0.0.1', port, tls: {} } as const;
  const connectionWith = (password: string): Connection => ({
    endpoint,
    username: 'root',
    password: new Password(password),
  });
  const refresh = async (password = 'calvin') => {
    const connection = connectionWith(password);
    const observation = await refreshBmc({ bmcConnections, clock }, 'bmc', connection);
    return { observation, failure: bmcConnections.observedBmc('bmc', connection).failure?.error.code };
  };
  const tryLogin = (password: string) => {
    const credentials = { username: 'second', password: new Password(password) };
    return bmcConnections.tryLogin('bmc', connectionWith('calvin'), credentials, new AbortController().signal);
  };
  return { basic, refresh, tryLogin, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

for (const name of ['Chassis', 'AccountService']) {
  test(`the login at a BMC that names neither systems nor managers is verified by its ${name}`, async () => {
    await using bmc = await openBmc({ names: [name] });
    assert.deepEqual(await bmc.refresh('wrong'), { observation: undefined, failure: 'AuthenticationFailed' });
    const { observation, failure } = await bmc.refresh();
    assert.deepEqual([observation?.systems, observation?.manager, failure], [[], undefined, undefined]);
    assert.equal(bmc.basic.length, 2, 'one request for each password');
  });
}

test('a BMC that names nothing by which the login could be verified is not observed', async () => {
  await using bmc = await openBmc({ names: [] });
  assert.deepEqual(await bmc.refresh(), { observation: undefined, failure: 'NotSupported' });
});

test('a wrong password of an account is sent once to a BMC whose sessions work for the operator', async () => {
  await using bmc = await openBmc({ names: ['Managers', 'SessionService'], sessionsOf: ['root', 'second'] });
  await bmc.refresh();
  assert.equal(await bmc.tryLogin('wrong'), 'rejected');
  assert.deepEqual(bmc.basic, []);
  assert.equal(await bmc.tryLogin('valid'), 'accepted');
});

test('an account is verified by Basic where the operator itself needs it', async () => {
  await using bmc = await openBmc({ names: ['Managers', 'SessionService'] });
  await bmc.refresh();
  assert.equal(await bmc.tryLogin('valid'), 'accepted');
  assert.equal(await bmc.tryLogin('wrong'), 'rejected');
});

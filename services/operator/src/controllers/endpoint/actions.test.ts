import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { BmcConnectionPool } from '../../bmc-connections/connection-pool.ts';
import { endpointActions } from './actions.ts';
import { noAttempts } from './login-attempts.ts';

type EndpointReconcile = Parameters<typeof endpointActions.tryCredential>[0];

const root = '/redfish/v1';

/** What is remembered after the first of two default credentials was tried at a BMC that takes the second one. */
async function loginsAfterFirst(links: object) {
  const second = `Basic ${Buffer.from('root:second').toString('base64')}`;
  const server = createServer(({ url, headers }, response) => {
    response.statusCode = url === `${root}/` || headers.authorization === second ? 200 : 401;
    response.end(JSON.stringify(links));
  });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const clock = fakeClock();
  const bmcConnections = stack.use(new BmcConnectionPool({ clock, random: () => 0, callDeadlineMs: 60_000 }));
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const defaultCredentials = ['first', 'second'].map((password) => ({ username: 'root', password }));
  const memory = { logins: noAttempts };
  // The action reads only these.
  const reconcile = {
    object: { metadata: { name: 'a' } },
    facts: {
      ip: '127.0.0.1',
      device: { protocol: 'Redfish', protocolScheme: 'http', port, defaultCredentials },
      logins: noAttempts,
    },
    context: {
      bmcConnections,
      config: { bmcAuthorities: { with: () => undefined }, skipCertificateValidation: false },
      discoveryLimiter: { acquire: () => undefined },
    },
    memory,
    now: clock.now(),
  } as unknown as EndpointReconcile;
  await endpointActions.tryCredential(reconcile);
  return memory.logins;
}

test('a default credential is not accepted without a login, although the service root names no managers', async () => {
  const links = { Chassis: { '@odata.id': `${root}/Chassis` } };
  assert.partialDeepStrictEqual(await loginsAfterFirst(links), {
    rejected: 1,
    accepted: undefined,
    failure: undefined,
  });
});

test('a default credential that no resource can verify is not accepted', async () => {
  const { accepted, failure } = await loginsAfterFirst({});
  assert.deepEqual([accepted, failure?.error.code], [undefined, 'NotSupported']);
});

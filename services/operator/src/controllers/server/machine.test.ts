import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import { identityOf } from '@metal/redfish/resources/identity.ts';
import { BmcConnectionPool } from '../../bmc-connections/connection-pool.ts';
import type { Connection } from '../../bmc-connections/connection.ts';
import { type ServerReconcile, systemUriOf } from './machine.ts';

const uriOf = (id: number): string => `/redfish/v1/Systems/${id}`;
const identity = { uuid: undefined, manufacturer: 'Contoso', serialNumber: 'SN1', serviceUuid: undefined };
const aloneUuid = identityOf({ ...identity, systemId: uriOf(1) }).uuid ?? '';
const uuidWithUri = identityOf({ ...identity, systemId: uriOf(2), isSerialShared: true }).uuid ?? '';

/** Looks for a Server without URI among the nodes of a BMC, which report a serial number and no UUID. */
async function findAmong(systemUUID: string, serials: readonly (string | undefined)[]): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const resources: Record<string, object> = {
    '/redfish/v1/': { Systems: { '@odata.id': '/redfish/v1/Systems' } },
    '/redfish/v1/Systems': { Members: serials.map((_, index) => ({ '@odata.id': uriOf(index + 1) })) },
  };
  for (const [index, SerialNumber] of serials.entries())
    if (SerialNumber !== undefined) resources[uriOf(index + 1)] = { Manufacturer: 'Contoso', SerialNumber };
  const server = createServer(({ url = '' }, response) => {
    const found = resources[url];
    response.statusCode = found === undefined ? 404 : 200;
    response.end(JSON.stringify({ '@odata.id': url, ...found }));
  });
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const connection: Connection = {
    endpoint: { scheme: 'http', host: '127.0.0.1', port, tls: {} },
    username: 'root',
    password: new Password('calvin'),
  };
  const pool = { clock: fakeClock(), random: () => 0, callDeadlineMs: 60_000 };
  const bmcConnections = stack.use(new BmcConnectionPool(pool));
  const object: Server = {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'Server',
    metadata: { name: 'one', uid: 'one', resourceVersion: '1' },
    spec: { systemUUID },
  };
  const client = { mergePatch: async () => object };
  const facts = { bmcName: 'bmc', connection, cleanup: { needed: false, clearance: undefined } };
  const context = { bmcConnections, client, clock: pool.clock };
  // The URI is looked up with nothing else.
  const reconcile = { object, facts, context, signal: new AbortController().signal };
  return await systemUriOf(reconcile as unknown as ServerReconcile);
}

test('a Server without URI is found under either derived UUID of its machine', async () => {
  assert.equal(await findAmong(aloneUuid, ['SN1', 'SN2']), uriOf(1));
  assert.equal(await findAmong(uuidWithUri, ['SN1', 'SN1']), uriOf(2));
  assert.equal(await findAmong(uuidWithUri, ['SN2', 'SN1']), uriOf(2));
});

for (const [title, serials] of [
  ['share the serial number', ['SN1', 'SN1']],
  ['may share the serial number, as one is unreadable', ['SN1', undefined, 'SN2']],
] as const)
  test(`a Server without URI is no system of several that ${title}`, async () => {
    await assert.rejects(findAmong(aloneUuid, serials), {
      code: 'StaleDecision',
      message: /several systems of BMC bmc/,
    });
  });

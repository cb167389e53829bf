import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { startFleet } from './fleet.ts';
import type { Node } from './node.ts';
import { clientOf, type TestClient, type TestResponse, testClient } from './test-client.ts';

const messageOf = ({ text: body }: TestResponse): string => /"MessageId":"Base\.1\.18\.(\w+)"/.exec(body)?.[1] ?? '';
const idsOf = ({ body }: TestResponse): unknown[] =>
  Array.isArray(body.Members) ? body.Members.map((member) => String(member['@odata.id']).split('/').at(-1)) : [];
const accounts = '/AccountService/Accounts';

/** A client with a new account of the role, and the path of the account. */
async function withRole(node: Node, role: string): Promise<TestClient & { readonly path: string }> {
  const body = { UserName: role, Password: 'long-enough-1', RoleId: role };
  const made = await clientOf(node).send('POST', accounts, body);
  const authorization = `Basic ${Buffer.from(`${role}:long-enough-1`).toString('base64')}`;
  return { ...testClient(node.bmc.url, { authorization }), path: made.headers.get('location') ?? '' };
}

test('a response without valid credentials names the way to authenticate', async () => {
  await using fleet = await startFleet();
  const { bmc } = await fleet.add();
  const anonymous = testClient(bmc.url, {});
  const rejected = [
    await anonymous.get('/Systems'),
    await anonymous.send('PATCH', '/', {}),
    await anonymous.send('POST', '/SessionService/Sessions', { UserName: 'nobody', Password: 'no' }),
  ];
  for (const { status, headers } of rejected) {
    assert.equal(status, 401);
    assert.match(headers.get('www-authenticate') ?? '', /^Basic realm=/);
  }
});

test('the documents of OData are public', async () => {
  await using fleet = await startFleet();
  const { bmc } = await fleet.add();
  const anonymous = testClient(bmc.url, {});
  const metadata = await anonymous.get('/$metadata');
  assert.match(metadata.headers.get('content-type') ?? '', /^application\/xml/);
  assert.match(metadata.text, /<EntityContainer Name="Service"/);
  const { body } = await anonymous.get('/odata');
  assert.equal(body['@odata.context'], '/redfish/v1/$metadata');
  assert.ok(JSON.stringify(body.value).includes('"url":"/redfish/v1/Systems"'));
});

test('a role has the privileges that it reports, and no others', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add();
  const { body } = await clientOf(node).get('/AccountService/Roles/ReadOnly');
  assert.deepEqual(body.AssignedPrivileges, ['Login', 'ConfigureSelf']);
  const reader = await withRole(node, 'ReadOnly');
  const operator = await withRole(node, 'Operator');
  const reset = '/Systems/system/Actions/ComputerSystem.Reset';
  const statusesOf = async (client: TestClient & { path: string }, other: string) => [
    (await client.get('/Systems/system')).status,
    (await client.send('POST', reset, { ResetType: 'On' })).status,
    (await client.send('POST', '/Managers/bmc/Actions/Manager.Reset', { ResetType: 'Nonsense' })).status,
    (await client.send('POST', accounts, {})).status,
    (await client.send('PATCH', other, { Password: 'taken-over-1' })).status,
    (await client.send('PATCH', client.path, { RoleId: 'Administrator' })).status,
    (await client.send('PATCH', client.path, { Password: 'long-enough-1' })).status,
    (await client.get(other)).status,
  ];
  assert.deepEqual(await statusesOf(reader, operator.path), [200, 403, 403, 403, 403, 403, 204, 403]);
  assert.deepEqual(await statusesOf(operator, reader.path), [200, 204, 403, 403, 403, 403, 204, 403]);
  assert.equal(messageOf(await reader.send('POST', reset, { ResetType: 'On' })), 'InsufficientPrivilege');
});

test('an account may end its own sessions only', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add();
  const reader = await withRole(node, 'ReadOnly');
  const sessionOf = async (UserName: string, Password: string) =>
    (await reader.send('POST', '/SessionService/Sessions', { UserName, Password })).headers.get('location') ?? '';
  const foreign = await sessionOf(node.bmc.username, node.bmc.password);
  assert.equal((await reader.send('DELETE', foreign)).status, 403);
  assert.equal((await reader.send('DELETE', await sessionOf('ReadOnly', 'long-enough-1'))).status, 204);
});

test('a change of an account with unknown or read-only properties changes nothing', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add();
  const client = clientOf(node);
  const change = async (body: object) => messageOf(await client.send('PATCH', `${accounts}/1`, body));
  assert.equal(await change({ Password: 'long-enough-1', Colour: 'red' }), 'PropertyUnknown');
  assert.equal(await change({ Id: '7' }), 'PropertyNotWritable');
  assert.equal(await change({ '@odata.id': '/redfish/v1/elsewhere' }), 'NoOperation');
  assert.equal((await client.get(`${accounts}/1`)).status, 200, 'the password is the old one');
});

test('a subscription needs the protocol Redfish', async () => {
  await using fleet = await startFleet();
  const client = clientOf(await fleet.add());
  const subscribe = async (more: object) =>
    messageOf(await client.send('POST', '/EventService/Subscriptions', { Destination: 'http://listener/', ...more }));
  assert.equal(await subscribe({ Protocol: 'FTP' }), 'PropertyValueNotInList');
  assert.equal(await subscribe({}), 'PropertyMissing');
  assert.deepEqual(idsOf(await client.get('/EventService/Subscriptions')), []);
});

test('a method that a resource does not support is refused with those that it does', async () => {
  await using fleet = await startFleet();
  const client = clientOf(await fleet.add());
  const allowedAt = async (method: 'POST' | 'PATCH' | 'DELETE', path: string) => {
    const { status, headers } = await client.send(method, path, method === 'DELETE' ? undefined : {});
    return `${status} ${headers.get('allow') ?? ''}`;
  };
  assert.equal(await allowedAt('PATCH', '/'), '405 GET, HEAD');
  assert.equal(await allowedAt('DELETE', '/$metadata'), '405 GET, HEAD');
  assert.equal(await allowedAt('POST', '/Systems/system'), '405 GET, HEAD, PATCH');
  assert.equal(await allowedAt('PATCH', accounts), '405 GET, HEAD, POST');
  assert.equal(await allowedAt('DELETE', `${accounts}/1`), '405 GET, HEAD, PATCH');
  assert.equal(await allowedAt('PATCH', '/AccountService/Roles/ReadOnly'), '405 GET, HEAD');
  assert.equal(await allowedAt('PATCH', '/Nowhere'), '404 ');
  const slots = clientOf(await fleet.add({ vendor: 'dell' }));
  assert.equal((await slots.get(accounts)).headers.get('allow'), 'GET, HEAD');
});

test('an unknown method is not implemented', async () => {
  await using fleet = await startFleet();
  const { bmc } = await fleet.add();
  const socket = connect(bmc.port, bmc.address);
  socket.write('MAKETEA /redfish/v1/ HTTP/1.1\r\nHost: bmc\r\n\r\n');
  assert.match(await text(socket), /^HTTP\/1\.1 501 /);
});

test('a read says how to cache it, what its schema is and what else is possible', async () => {
  await using fleet = await startFleet();
  const client = clientOf(await fleet.add());
  const { headers, body } = await client.get('/Systems/system');
  assert.equal(headers.get('allow'), 'GET, HEAD, PATCH');
  assert.equal(headers.get('cache-control'), 'no-cache');
  assert.equal(headers.get('etag'), body['@odata.etag']);
  assert.equal(
    headers.get('link'),
    '<https://redfish.dmtf.org/schemas/v1/ComputerSystem.v1_22_0.json>; rel=describedby',
  );
});

test('a request for another version of OData is refused after its credentials are checked', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add();
  const version = { 'odata-version': '4.1' };
  assert.equal((await clientOf(node).get('/Systems', version)).status, 412);
  assert.equal((await clientOf(node).get('/Systems', { 'odata-version': '4.0' })).status, 200);
  assert.equal((await testClient(node.bmc.url, {}).get('/Systems', version)).status, 401);
});

test('a query selects properties and members', async () => {
  await using fleet = await startFleet();
  const client = clientOf(await fleet.add({ quirks: { pageSize: 2 } }));
  const system = (await client.get('/Systems/system?$select=PowerState,Status/Health')).body;
  assert.deepEqual(
    Object.keys(system).filter((name) => !name.startsWith('@odata.')),
    ['PowerState', 'Status'],
  );
  assert.deepEqual(system.Status, { Health: 'OK' });
  const memory = await client.get('/Systems/system/Memory?$skip=1&$top=3');
  assert.deepEqual(idsOf(memory), ['DIMM1', 'DIMM2']);
  const next = String(memory.body['Members@odata.nextLink']);
  assert.equal(next, '/redfish/v1/Systems/system/Memory?$skip=3&$top=1');
  const rest = await client.get(next);
  assert.deepEqual([idsOf(rest), rest.body['Members@odata.nextLink']], [['DIMM3'], undefined]);
  assert.equal((await client.get('/Systems?only')).body.Id, 'system');
  assert.equal((await client.get('/Systems/system/Memory?only')).body.Id, undefined, 'a collection of several');
});

test('a query that the service does not support or understand is refused, without $ it is ignored', async () => {
  await using fleet = await startFleet();
  const client = clientOf(await fleet.add());
  const statusOf = async (query: string) => (await client.get(query)).status;
  assert.equal(await statusOf('/Systems?$filter=Id%20eq%201'), 501);
  assert.equal(await statusOf('/Systems?$nonsense'), 501);
  assert.equal(await statusOf('/Systems?nonsense'), 200);
  assert.equal(await statusOf('/Systems?$top=-1'), 400);
  assert.equal(await statusOf('/Systems?$select='), 400);
  assert.equal(await statusOf('/Systems?only=system'), 400);
  assert.equal(await statusOf('/Systems/system?$skip=1'), 400);
});

test('drives are below the chassis, or below Storage where the vendor has them there', async () => {
  await using fleet = await startFleet();
  const drivesOf = async (vendor: 'generic' | 'dell', path: string) => {
    const client = clientOf(await fleet.add({ vendor, systems: 2 }));
    const { body } = await client.get(path);
    const [drive] = Array.isArray(body.Drives) ? body.Drives.map((link) => String(link['@odata.id'])) : [];
    assert.equal((await client.get(drive ?? '')).body.Id, drive?.split('/').at(-1));
    return drive?.replace(/\/[^/]+$/, '');
  };
  assert.equal(await drivesOf('generic', '/Systems/system2/Storage/NVMe'), '/redfish/v1/Chassis/chassis/Drives');
  assert.match(
    (await drivesOf('dell', '/Systems/System.Embedded.2/Storage/BOSS.SL.10-1')) ?? '',
    /Storage\/.*\/Drives$/,
  );
});

test('a memory module reports its slot without deprecated properties', async () => {
  await using fleet = await startFleet();
  const { body } = await clientOf(await fleet.add()).get('/Systems/system/Memory/DIMM3');
  assert.equal(body.DeviceLocator, undefined);
  assert.equal(Reflect.get(Object(body.MemoryLocation), 'Channel'), 3);
});

test('a boot device by its UEFI path is reported as unset, and can only be unset', async () => {
  await using fleet = await startFleet();
  const client = clientOf(await fleet.add());
  const set = async (device: string | null) =>
    (await client.send('PATCH', '/Systems/system', { Boot: { UefiTargetBootSourceOverride: device } })).status;
  assert.deepEqual([await set(null), await set('PciRoot(0x0)')], [204, 400]);
  const { body } = await client.get('/Systems/system');
  assert.equal(Reflect.get(Object(body.Boot), 'UefiTargetBootSourceOverride'), null);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startControl } from './control.ts';
import { startFleet } from './fleet.ts';
import { statusOf } from './status-line.ts';
import { clientOf } from './test-client.ts';

interface NodeSummary {
  readonly power: string;
  readonly requests: number;
  readonly faults: object;
  readonly lastRequests: { readonly path: string }[];
}

async function startFixture() {
  const stack = new AsyncDisposableStack();
  const fleet = stack.use(await startFleet({ count: 2, vendors: ['generic'] }));
  const control = stack.use(await startControl(fleet, 0));
  const request = async (method: string, path: string, payload?: unknown, headers: Record<string, string> = {}) => {
    const sent = payload === undefined ? {} : { body: JSON.stringify(payload) };
    const response = await fetch(`http://127.0.0.1:${control.port}${path}`, { method, headers, ...sent });
    const text = await response.text();
    const nodes: NodeSummary[] = text.startsWith('[') ? JSON.parse(text) : [];
    const body: { error?: string; byRoute?: Record<string, number> } = text.startsWith('{') ? JSON.parse(text) : {};
    return { status: response.status, nodes, body, text };
  };
  return { fleet, request, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('faults are set on one server or on all, and healed', async () => {
  await using fixture = await startFixture();
  const [first, second] = fixture.fleet.nodes;
  assert.ok(first && second);
  const set = await fixture.request('POST', `/nodes/${first.name}/faults`, { status: 503, times: 1 });
  assert.deepEqual([set.status, set.nodes[0]?.faults], [200, { status: 503 }]);
  assert.equal((await clientOf(first).get('/')).status, 503);
  assert.equal((await clientOf(first).get('/')).status, 200);

  await fixture.request('POST', '/nodes/*/faults', { refuse: true });
  await assert.rejects(clientOf(second).get('/'), { name: 'TypeError' });
  assert.match(statusOf(fixture.fleet, 0), /^2 servers: 0 on, .* 2 with faults$/);
  await fixture.request('POST', '/nodes/*/heal');
  assert.equal((await clientOf(second).get('/')).status, 200);

  await fixture.request('POST', `/nodes/${second.name}/faults`, { machineHangs: true, networkLost: true });
  second.machine.turnOn();
  await second.until(({ power }) => power === 'On', AbortSignal.timeout(60_000));
  second.machine.turnOff();
  assert.equal(second.power, 'On', 'it ignores the reset');
  await fixture.request('POST', '/nodes/*/heal');
  second.machine.turnOff();
  await second.until(({ power }) => power === 'Off', AbortSignal.timeout(60_000));
});

test('settings of somebody else are set, and settings are rejected, on request', async () => {
  await using fixture = await startFixture();
  const [first] = fixture.fleet.nodes;
  assert.ok(first);
  const faults = {
    pendingBios: { BootMode: 'LegacyBios' },
    pendingManager: { fooreboot: 7 },
    rejectsAttribute: 'Sriov',
  };
  const set = await fixture.request('POST', `/nodes/${first.name}/faults`, faults);
  assert.deepEqual([set.status, set.nodes[0]?.faults], [200, { rejectsAttribute: 'Sriov' }]);
  const client = clientOf(first);
  const settings = '/Systems/system/Bios/Settings';
  assert.deepEqual((await client.get(settings)).body.Attributes, { BootMode: 'LegacyBios' });
  assert.deepEqual((await client.get('/Managers/bmc/Settings')).body.Attributes, { fooreboot: 7 });
  assert.equal((await client.send('PATCH', settings, { Attributes: { Sriov: true } })).status, 400);
});

test('faults of firmware updates are set, and the details of a server list what was flashed', async () => {
  await using fixture = await startFixture();
  const [node = assert.fail()] = fixture.fleet.nodes;
  const faults = { checksumFails: true, silentAfterUpdateMs: 60_000, powerLostWhileFlashing: true };
  const set = await fixture.request('POST', `/nodes/${node.name}/faults`, faults);
  assert.deepEqual(set.nodes[0]?.faults, faults);
  node.bmc.firmware.flashes.push({ component: 'BIOS', version: '2', at: 0, isForced: false });
  assert.match((await fixture.request('GET', `/nodes/${node.name}`)).text, /"flashes": \[\s*\{\s*"component": "BIOS"/);
});

test('servers and counts can be read', async () => {
  await using fixture = await startFixture();
  await clientOf(fixture.fleet.nodes[0] ?? assert.fail()).get('/Systems');
  const { nodes, text } = await fixture.request('GET', '/nodes');
  assert.deepEqual(
    nodes.map(({ power, requests }) => [power, requests]),
    [
      ['Off', 1],
      ['Off', 0],
    ],
  );
  assert.equal(
    (await fixture.request('GET', `/nodes/${fixture.fleet.nodes[0]?.name}`)).nodes[0]?.lastRequests[0]?.path,
    '/redfish/v1/Systems',
  );
  assert.equal((await fixture.request('GET', '/counts')).body.byRoute?.['GET /redfish/v1/Systems'], 1);
  assert.doesNotMatch(text, /fleet-password/);
});

test('the journal contains the requests to each BMC since the last page', async () => {
  await using fixture = await startFixture();
  const [first, second] = fixture.fleet.nodes;
  assert.ok(first && second);
  const page = async () => JSON.parse((await fixture.request('POST', '/journal')).text);
  const read = await page();
  assert.deepEqual(read, { connections: [], events: [], lost: 0 });
  await clientOf(first).get('/Systems');
  const { connections, events } = await page();
  const [{ id, node, from, to }] = connections;
  const { address, port } = first.bmc.peers[0] ?? assert.fail('a connection');
  assert.deepEqual(
    [node, from, to],
    [first.name, { address, port }, { address: first.bmc.address, port: fixture.fleet.port }],
  );
  assert.deepEqual(
    events.map(([, ...rest]: unknown[]) => rest),
    [
      [id, 'arrived'],
      [id, 'answered'],
    ],
  );
  await clientOf(second).get('/Systems');
  const next = await page();
  assert.deepEqual([next.connections.length, next.connections[0].node, next.events.length], [1, second.name, 2]);
});

test('an invalid request is rejected with the expected values', async () => {
  await using fixture = await startFixture();
  assert.equal((await fixture.request('POST', '/nodes/nobody/faults', {})).status, 404);
  assert.match(
    (await fixture.request('POST', '/nodes/*/faults', { statu: 503 })).body.error ?? '',
    /Unrecognized key: "statu"/,
  );
  assert.equal((await fixture.request('POST', '/nodes/*/faults', undefined)).status, 400);
  assert.equal((await fixture.request('POST', '/boot-url', { url: 'nowhere' })).status, 400);
  assert.equal((await fixture.request('GET', '/')).status, 404);
  assert.equal(
    (await fixture.request('POST', '/nodes/*/faults', { hang: true }, { origin: 'http://evil.example' })).status,
    403,
  );
});

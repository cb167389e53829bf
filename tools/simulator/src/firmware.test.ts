import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockOfSpeed } from './clock.ts';
import { fakeClock } from './fake-clock.ts';
import type { UpdateFaults } from './faults.ts';
import { firmwareImage, type ImageOptions } from './firmware-image.ts';
import { genericFirmware } from './firmware-profiles.ts';
import { type FleetOptions, type NodeOptions, startFleet } from './fleet.ts';
import { profiles } from './profiles.ts';
import { startTestBootServer } from './test-boot-server.ts';
import { clientOf, type TestResponse } from './test-client.ts';

const simpleUpdate = '/UpdateService/Actions/UpdateService.SimpleUpdate';
const inventory = '/UpdateService/FirmwareInventory';
const soon = () => AbortSignal.timeout(20_000);

/** One BMC, and a server of one image, which is for its machine unless given otherwise. */
async function openFixture(
  image: Partial<ImageOptions> = {},
  node: NodeOptions = {},
  options: Partial<FleetOptions> = {},
) {
  const stack = new AsyncDisposableStack();
  const fleet = stack.use(
    await startFleet({ clock: clockOfSpeed(100), powerOnMs: 50, bootMs: 50, flashMs: 500, ...options }),
  );
  const added = await fleet.add(node);
  const { manufacturer } = profiles[node.vendor ?? 'generic'];
  const bytes = firmwareImage({ component: 'BIOS', version: '9.9', manufacturer, ...image });
  const server = stack.use(await startTestBootServer(() => ({ '/image': Buffer.from(bytes) })));
  const client = clientOf(added);
  const update = (body: object = {}, headers: Record<string, string> = {}): Promise<TestResponse> =>
    client.send('POST', simpleUpdate, { ImageURI: `${server.url}/image`, ...body }, headers);
  return { fleet, node: added, client, server, update, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
type Fixture = Awaited<ReturnType<typeof openFixture>>;

async function until<T>(read: () => Promise<T>, isReached: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (isReached(value)) return value;
    await clockOfSpeed(100).sleep(50);
  }
}

const isOver = ({ body }: TestResponse): boolean => ['Completed', 'Exception'].includes(String(body.TaskState));

/** Starts an update, and reads its task when it is over. */
async function completed({ client, update }: Fixture, body: object = {}): Promise<TestResponse> {
  const { status, headers } = await update(body);
  assert.equal(status, 202);
  return until(() => client.get(headers.get('location') ?? ''), isOver);
}

const messagesIn = ({ body }: TestResponse): string => JSON.stringify(body.Messages);
const versionOf = async ({ client }: Fixture, id: string): Promise<unknown> =>
  (await client.get(`${inventory}/${id}`)).body.Version;

const faults: [fault: keyof UpdateFaults, state: string, message: RegExp, flashes: number][] = [
  ['downloadFails', 'Exception', /cannot be downloaded/, 0],
  ['checksumFails', 'Exception', /checksum/, 0],
  ['versionUnchanged', 'Completed', /successful/, 1],
];
for (const [fault, state, message, flashes] of faults) {
  test(`with the fault ${fault} an update ends as ${state}, and nothing is staged`, async () => {
    await using fixture = await openFixture();
    fixture.node.bmc.set({ [fault]: true });
    const task = await completed(fixture);
    assert.equal(task.body.TaskState, state);
    assert.match(messagesIn(task), message);
    assert.equal(fixture.node.bmc.flashes.length, flashes);
    assert.equal((await fixture.client.get(`${inventory}/BIOS_staged`)).status, 404);
  });
}

test('with the fault rejectsUpdates nothing is started', async () => {
  await using fixture = await openFixture();
  fixture.node.bmc.set({ rejectsUpdates: true }, { times: 1 });
  assert.equal((await fixture.update()).status, 400);
  assert.equal((await fixture.client.get('/TaskService/Tasks')).body['Members@odata.count'], 0);
  assert.equal((await completed(fixture)).body.TaskState, 'Completed');
});

test('with the fault updateTaskVanishes the update goes on without its task', async () => {
  await using fixture = await openFixture({ component: 'Drive0', version: 'D.2' });
  fixture.node.bmc.set({ updateTaskVanishes: true });
  const { headers } = await fixture.update();
  assert.equal((await fixture.client.get(headers.get('location') ?? '')).status, 404);
  await until(
    () => versionOf(fixture, 'Drive0'),
    (version) => version === 'D.2',
  );
});

test('with the fault updateStuck a task stays Running, and no other update is accepted', async () => {
  await using fixture = await openFixture();
  fixture.node.bmc.set({ updateStuck: true });
  const { headers } = await fixture.update();
  const task = await until(
    () => fixture.client.get(headers.get('location') ?? ''),
    ({ body }) => Number(body.PercentComplete) >= 90,
  );
  assert.equal(task.body.TaskState, 'Running');
  assert.equal((await fixture.update()).status, 503);
  assert.equal(fixture.node.bmc.flashes.length, 1);
});

for (const vendor of ['generic', 'dell', 'supermicro'] as const) {
  test(`a ${vendor} machine that loses power while its BIOS is flashed is broken`, async () => {
    await using fixture = await openFixture({}, { vendor });
    const { node, client } = fixture;
    const system = `/Systems/${node.machine.systemId}`;
    node.bmc.set({ powerLostWhileFlashing: true }, { times: 1 });
    await fixture.update();
    await until(
      async () => node.machine,
      ({ isBroken, pendingFlashes: [flash] }) => isBroken || flash !== undefined,
    );
    if (!node.machine.isBroken) node.machine.turnOn();
    await node.until(({ machine }) => machine.isBroken, soon());
    node.machine.turnOn();
    await node.until(({ boots }) => boots.at(-1)?.outcome === 'no firmware', soon());
    const { body } = await client.get(system);
    assert.equal(body.PowerState, 'On');
    assert.equal(body.BiosVersion, profiles[vendor].biosVersion);
    assert.equal((body.Status as { Health: string }).Health, 'Critical');
  });
}

test('a restart of the machine while its BIOS is flashed breaks it', async () => {
  await using fixture = await openFixture();
  const { node } = fixture;
  await completed(fixture);
  node.machine.turnOn();
  await node.until(({ power }) => power === 'On', soon());
  assert.ok(node.machine.isFlashing);
  node.machine.restart();
  assert.ok(node.machine.isBroken);
});

for (const [applyTime, isRestarted] of [
  ['Immediate', true],
  ['OnReset', false],
] as const) {
  test(`an update of Dell with ${applyTime} ${isRestarted ? 'restarts the machine by itself' : 'waits for a start'}`, async () => {
    await using fixture = await openFixture({}, { vendor: 'dell', inUse: true });
    const { headers } = await fixture.update({ '@Redfish.OperationApplyTime': applyTime });
    const readTask = () => fixture.client.get(headers.get('location') ?? '');
    const isWanted = (task: TestResponse) => (isRestarted ? isOver(task) : /JCP001/.test(messagesIn(task)));
    await until(readTask, isWanted);
    assert.equal(fixture.node.boots.length, isRestarted ? 1 : 0);
    assert.equal(fixture.node.machine.biosVersion, isRestarted ? '9.9' : profiles.dell.biosVersion);
  });
}

test('a firmware of the BMC waits for its restart, after which it may be silent for long', async () => {
  const clock = fakeClock();
  await using fixture = await openFixture({ component: 'BMC' }, {}, { clock, bmcRestartMs: 1_000 });
  const { node, client } = fixture;
  node.bmc.set({ silentAfterUpdateMs: 300_000 });
  const { headers } = await fixture.update();
  const readTask = () => client.get(headers.get('location') ?? '');
  await until(readTask, ({ body }) => body.TaskState === 'Running');
  clock.advance(500);
  await until(readTask, isOver);
  assert.equal((await client.get('/Managers/bmc')).body.FirmwareVersion, profiles.generic.firmwareVersion);
  assert.equal((await client.get(`${inventory}/BMC_staged`)).body.Staged, true);
  node.bmc.restart();
  await node.bmc.whenStable();
  clock.advance(299_000);
  await node.bmc.whenStable();
  await assert.rejects(client.get('/'));
  clock.advance(1_000);
  await node.bmc.whenStable();
  assert.equal((await client.get('/Managers/bmc')).body.FirmwareVersion, '9.9');
  assert.equal((await readTask()).status, 404, 'tasks vanish with a restart');
});

test('a BMC that keeps its tasks has them after its restart, and ends an update that ran', async () => {
  await using fixture = await openFixture({}, { vendor: 'dell' }, { bmcRestartMs: 10 });
  const { node, client } = fixture;
  node.bmc.set({ updateStuck: true });
  const { headers } = await fixture.update();
  const readTask = () => client.get(headers.get('location') ?? '').catch(() => undefined);
  await until(readTask, (task) => task?.body.TaskState === 'Running');
  node.bmc.restart();
  const task = await until(readTask, (found) => found !== undefined && isOver(found));
  assert.match(messagesIn(task ?? assert.fail()), /restarted/);
});

test('an image is installed on all firmware that it is for, or on the targets', async () => {
  await using fixture = await openFixture({ component: 'Drive', version: 'D.2' });
  await completed(fixture, { Targets: [`/redfish/v1${inventory}/Drive1`] });
  assert.equal(await versionOf(fixture, 'Drive0'), 'GDC5602Q');
  assert.equal(await versionOf(fixture, 'Drive1'), 'D.2');
  await completed(fixture);
  assert.equal(await versionOf(fixture, 'Drive0'), 'D.2');
  assert.deepEqual(
    fixture.node.bmc.flashes.map(({ component }) => component),
    ['Drive1', 'Drive0', 'Drive1'],
  );
});

test('the BIOS of one of several machines is updated', async () => {
  await using fixture = await openFixture({}, { systems: 2 });
  await completed(fixture, { Targets: ['/redfish/v1/Systems/system2'] });
  assert.deepEqual(
    fixture.node.machines.map(({ pendingFlashes }) => pendingFlashes.length),
    [0, 1],
  );
});

test('a NIC runs its new firmware after a start of the machine', async () => {
  await using fixture = await openFixture({ component: 'NIC1' });
  await completed(fixture);
  assert.equal(await versionOf(fixture, 'NIC1'), '22.5.7');
  fixture.node.machine.turnOn();
  await fixture.node.until(({ boots }) => boots[0]?.outcome !== undefined, soon());
  assert.equal(await versionOf(fixture, 'NIC1'), '9.9');
});

const unfitting: [title: string, image: Partial<ImageOptions>, message: RegExp][] = [
  ['of another manufacturer', { manufacturer: 'Other' }, /for Other/],
  ['for another model', { models: ['X'] }, /for Contoso X/],
  ['of firmware that cannot be updated', { component: 'PSU1' }, /cannot be updated/],
  ['of firmware that the machine does not have', { component: 'GPU1' }, /no target/],
];
for (const [title, image, message] of unfitting) {
  test(`an image ${title} ends in an Exception`, async () => {
    await using fixture = await openFixture(image);
    const task = await completed(fixture);
    assert.equal(task.body.TaskState, 'Exception');
    assert.match(messagesIn(task), message);
    assert.deepEqual(fixture.node.bmc.flashes, []);
  });
}

test('an image that is too large, damaged or missing ends in an Exception', async () => {
  const firmware = { ...genericFirmware, maxImageBytes: 100 };
  await using small = await openFixture({}, { quirks: { firmware } });
  assert.match(messagesIn(await completed(small)), /larger than 100 bytes/);
  await using fixture = await openFixture();
  assert.match(messagesIn(await completed(fixture, { ImageURI: `${fixture.server.url}/none` })), /answered 404/);
  const other = await startTestBootServer(() => ({ '/bad': Buffer.from('no header\nat all') }));
  await using _ = other;
  assert.match(messagesIn(await completed(fixture, { ImageURI: `${other.url}/bad` })), /not one of a firmware/);
});

test('the BMC sends the credentials of the image as Basic', async () => {
  await using fixture = await openFixture();
  await completed(fixture, { Username: 'reader', Password: 'p:w' });
  assert.equal(fixture.server.requests[0]?.authorization, `Basic ${Buffer.from('reader:p:w').toString('base64')}`);
});

test('the probe reports the new BIOS version', async () => {
  await using registry = await startTestBootServer(() => ({ '/register': 201 }));
  await using fixture = await openFixture({}, {}, { probeRegistryUrl: registry.url });
  await completed(fixture);
  fixture.node.machine.override = { target: 'Pxe', isOnce: true, httpUri: undefined };
  fixture.node.machine.turnOn();
  await fixture.node.until(({ boots }) => boots[0]?.outcome === 'probe', soon());
  const { data } = JSON.parse(registry.requests[0]?.body ?? '{}');
  assert.equal(data.systemInfo.biosInformation.version, '9.9');
});

const rejected: [
  title: string,
  vendor: 'generic' | 'dell',
  body: object,
  headers: Record<string, string>,
  status: number,
][] = [
  ['without ImageURI', 'generic', { ImageURI: undefined }, {}, 400],
  ['with a protocol that is not offered', 'generic', { TransferProtocol: 'FTP' }, {}, 400],
  ['with an unknown parameter', 'generic', { Force: true }, {}, 400],
  ['with an unknown apply time', 'generic', { '@Redfish.OperationApplyTime': 'Later' }, {}, 400],
  ['with If-Match', 'dell', {}, { 'if-match': '"1"' }, 412],
];
for (const [title, vendor, body, headers, status] of rejected) {
  test(`an update ${title} is ${status}`, async () => {
    await using fixture = await openFixture({}, { vendor });
    assert.equal((await fixture.update(body, headers)).status, status);
    assert.deepEqual(fixture.server.requests, []);
  });
}

test('a pushed form without targets is rejected where they are needed', async () => {
  await using fixture = await openFixture({}, { vendor: 'supermicro' });
  const { bmc } = fixture.node;
  const form = new FormData();
  form.set('UpdateParameters', new Blob(['{}'], { type: 'application/json' }));
  form.set('UpdateFile', new Blob([Buffer.from(firmwareImage({ component: 'BIOS', version: '9.9' }))]));
  const authorization = `Basic ${Buffer.from(`${bmc.username}:${bmc.password}`).toString('base64')}`;
  const push = () =>
    fetch(`${bmc.url}/redfish/v1/UpdateService/upload`, { method: 'POST', headers: { authorization }, body: form });
  assert.equal((await push()).status, 400);
  form.set('UpdateParameters', new Blob([JSON.stringify({ Targets: ['/redfish/v1/Systems/1/Bios'] })]));
  // The standard wants the parameters first; FormData keeps the place of a replaced part.
  assert.equal((await push()).status, 202);
  await until(
    async () => bmc.flashes,
    ({ length }) => length === 1,
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../fake-clock.ts';
import { type NodeOptions, startFleet } from '../fleet.ts';
import { profiles, vendors } from '../profiles.ts';
import { clientOf, type TestResponse } from '../test-client.ts';
import { factoryOf } from './attribute-set.ts';

const settings = '/Systems/system/Bios/Settings';

/** One machine, its BMC, and a start of the machine. */
async function openFixture(options: NodeOptions = {}) {
  const clock = fakeClock();
  const stack = new AsyncDisposableStack();
  const fleet = stack.use(await startFleet({ clock }));
  const node = await fleet.add(options);
  const client = clientOf(node);
  const change = (Attributes: object, path = settings) => client.send('PATCH', path, { Attributes });
  const start = () => {
    node.machine.cutOff();
    node.machine.turnOn();
    clock.advance(60_000);
  };
  const restartBmc = async () => {
    node.bmc.restart();
    clock.advance(600_000);
    await node.bmc.whenStable();
  };
  return { fleet, node, client, change, start, restartBmc, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const infoOf = ({ body }: TestResponse) =>
  Reflect.get(Object(Reflect.get(Object(body.error), '@Message.ExtendedInfo')), 0) as Record<string, unknown>;

const rejections: [title: string, attributes: object, messageId: string, name: string][] = [
  ['an unknown attribute', { Nonsense: 1 }, 'PropertyUnknown', 'Nonsense'],
  ['a read-only attribute', { ProcTurboMode: 'Enabled' }, 'PropertyNotWritable', 'ProcTurboMode'],
  ['a hidden attribute', { NicBoot1: 'Disabled' }, 'PropertyNotWritable', 'NicBoot1'],
  ['an immutable attribute', { BiosReleaseDate: '2027' }, 'PropertyNotWritable', 'BiosReleaseDate'],
  ['an attribute that another one keeps read-only', { ProcCStates: 'Disabled' }, 'PropertyNotWritable', 'ProcCStates'],
  ['a text for a number', { MaxCores: '8' }, 'PropertyValueTypeError', 'MaxCores'],
  ['a text for a boolean', { Sriov: 'true' }, 'PropertyValueTypeError', 'Sriov'],
  ['a displayed name', { BootMode: 'UEFI' }, 'PropertyValueNotInList', 'BootMode'],
  ['a number beyond its bounds', { BootTimeoutSec: 601 }, 'PropertyValueOutOfRange', 'BootTimeoutSec'],
  ['a text that is too long', { AssetLabel: 'x'.repeat(33) }, 'PropertyValueOutOfRange', 'AssetLabel'],
];
for (const [title, attributes, messageId, name] of rejections) {
  test(`${title} is rejected by name, and nothing else is changed`, async () => {
    await using fixture = await openFixture();
    const reply = await fixture.change({ LogicalProc: 'Disabled', ...attributes });
    assert.equal(reply.status, 400);
    const { MessageId, RelatedProperties } = infoOf(reply);
    assert.deepEqual([MessageId, RelatedProperties], [`Base.1.18.${messageId}`, [`#/Attributes/${name}`]]);
    assert.deepEqual((await fixture.client.get(settings)).body.Attributes, {});
  });
}

test('attributes without a reset apply at once, others at the next start, with those they depend on', async () => {
  await using fixture = await openFixture();
  const { node, start, change } = fixture;
  assert.equal((await change({ MaxCores: 8, WorkloadProfile: 'Custom', ProcCStates: 'Disabled' })).status, 204);
  assert.deepEqual([node.machine.biosAttributes.MaxCores, node.machine.biosAttributes.ProcCStates], [8, 'Enabled']);
  start();
  assert.deepEqual([node.machine.biosAttributes.MaxCores, node.machine.biosAttributes.ProcCStates], [8, 'Disabled']);
  start();
  assert.equal(node.machine.biosAttributes.ProcCStates, 'Disabled', 'values survive starts');
});

test('the current value in place of a pending one withdraws it, and DELETE withdraws all', async () => {
  await using fixture = await openFixture();
  const { client, change } = fixture;
  const pending = async () => (await client.get(settings)).body.Attributes;
  await change({ LogicalProc: 'Disabled', MemoryTest: 'Enabled' });
  await change({ LogicalProc: 'Enabled' });
  assert.deepEqual(await pending(), { MemoryTest: 'Enabled' });
  assert.equal((await client.send('DELETE', settings)).status, 204);
  assert.deepEqual(await pending(), {});
});

test('a fault rejects one attribute', async () => {
  await using fixture = await openFixture();
  fixture.node.bmc.rejectAttribute('BootMode', { times: 1 });
  const reply = await fixture.change({ BootMode: 'LegacyBios' });
  assert.deepEqual([reply.status, infoOf(reply).RelatedProperties], [400, ['#/Attributes/BootMode']]);
  assert.equal((await fixture.change({ BootMode: 'LegacyBios' })).status, 204);
});

test('a fault makes the next start forget settings, and another keeps them pending', async () => {
  await using fixture = await openFixture();
  const { node, client, change, start } = fixture;
  for (const [inject, left] of [
    [() => node.bmc.dropPendingSettings({ times: 1 }), {}],
    [() => node.bmc.keepPendingSettings({ times: 1 }), { LogicalProc: 'Disabled' }],
  ] as const) {
    inject();
    assert.equal((await change({ LogicalProc: 'Disabled' })).status, 204);
    start();
    assert.equal(node.machine.biosAttributes.LogicalProc, 'Enabled');
    assert.deepEqual((await client.get(settings)).body.Attributes, left);
  }
  await change({ LogicalProc: 'Disabled' });
  start();
  assert.equal(node.machine.biosAttributes.LogicalProc, 'Disabled', 'without a fault they are applied');
});

test('settings of somebody else wait for the next start, also in a settings object that lists everything', async () => {
  await using fixture = await openFixture();
  const { node, client } = fixture;
  node.bmc.setPendingBios({ BootMode: 'LegacyBios' });
  assert.deepEqual((await client.get(settings)).body.Attributes, { BootMode: 'LegacyBios' });
  node.bmc.mirrorSettings();
  const mirrored = { ...node.machine.factoryBios, BootMode: 'LegacyBios' };
  assert.deepEqual((await client.get(settings)).body.Attributes, mirrored);
});

test('a profile may require an If-Match, or reject every one', async () => {
  const body = (name: string, value: unknown) => ({ Attributes: { [name]: value } });
  await using ami = await openFixture({ vendor: 'gigabyte' });
  const path = '/Systems/Self/Bios/SD';
  const { headers } = await ami.client.get(path);
  assert.equal((await ami.client.send('PATCH', path, body('SETUP005', false))).status, 428);
  const withEtag = { 'if-match': headers.get('etag') ?? '' };
  assert.equal((await ami.client.send('PATCH', path, body('SETUP005', false), withEtag)).status, 200);
  await using x10 = await openFixture({ vendor: 'supermicro-x10' });
  const change = body('Quiet Boot', false);
  assert.equal((await x10.client.send('PATCH', '/Systems/1/Bios', change, { 'if-match': '*' })).status, 412);
  assert.equal((await x10.client.send('PATCH', '/Systems/1/Bios', change)).status, 200);
});

test('an apply time that a profile does not know is rejected', async () => {
  const body = { Attributes: { 'Quiet Boot': false }, '@Redfish.SettingsApplyTime': { ApplyTime: 'OnReset' } };
  await using fixture = await openFixture({ vendor: 'supermicro' });
  assert.equal((await fixture.client.send('PATCH', '/Systems/1/Bios/SD', body)).status, 400);
});

test('attributes of the manager that need a reset apply when the BMC restarts, and a factory reset drops all', async () => {
  await using fixture = await openFixture();
  const { node, client, change, restartBmc } = fixture;
  const manager = '/Managers/bmc';
  const read = async () => Object((await client.get(manager)).body.Attributes) as Record<string, unknown>;
  await change({ abc: 'x', fooreboot: 5 }, `${manager}/Settings`);
  assert.deepEqual([(await read()).abc, (await read()).fooreboot], ['x', 123]);
  node.bmc.setPendingManager({ LinkSpeed: '100' });
  await restartBmc();
  assert.deepEqual([(await read()).fooreboot, (await read()).LinkSpeed], [5, '100']);
  node.bmc.factoryReset();
  await restartBmc();
  assert.deepEqual([(await read()).abc, (await read()).fooreboot], ['bar', 123]);
});

test('an iDRAC has groups of attributes and shows enumerations by their displayed names', async () => {
  await using fixture = await openFixture({ vendor: 'dell' });
  const { client, change } = fixture;
  const group = '/Managers/iDRAC.Embedded.1/Oem/Dell/DellAttributes/LifecycleController.Embedded.1';
  const name = 'LCAttributes.1.AutoUpdate';
  assert.equal((await change({ [name]: 'On' }, `${group}/Settings`)).status, 200);
  assert.equal(Reflect.get(Object((await client.get(group)).body.Attributes), name), 'Enabled');
});

test('resources of the manager are changed in part, and members of its collections created', async () => {
  await using fixture = await openFixture({ vendor: 'hpe' });
  const { client } = fixture;
  const path = '/Managers/1/NetworkProtocol';
  assert.equal((await client.send('PATCH', path, { NTP: { ProtocolEnabled: true } })).status, 200);
  assert.deepEqual((await client.get(path)).body.NTP, { ProtocolEnabled: true, NTPServers: ['', ''] });
  assert.equal((await client.send('PATCH', path, { NTP: 'on' })).status, 400);
  assert.equal((await client.send('PATCH', path, { Nonsense: 1 })).status, 400);
  const users = '/Managers/1/SnmpService/SNMPUsers';
  const made = await client.send('POST', users, { SecurityName: 'probe', AuthPassphrase: 'secret' });
  const { body } = await client.get(made.headers.get('location') ?? '');
  assert.deepEqual([made.status, body.SecurityName, body.AuthPassphrase], [201, 'probe', null]);
});

for (const vendor of vendors) {
  test(`${vendor}: every registry is found by its locator and defines what the BMC shows`, async () => {
    await using fixture = await openFixture({ vendor });
    const { client } = fixture;
    const { bios, managerAttributes } = profiles[vendor];
    const members = Object((await client.get('/Registries')).body.Members) as { '@odata.id': string }[];
    const defined = new Set<unknown>();
    for (const { '@odata.id': at } of members) {
      const { body: locator } = await client.get(at);
      const places = (locator.Location ?? [{ Language: 'en', Uri: at }]) as { Language: string; Uri: string }[];
      const uri = places.find(({ Language }) => Language === 'en')?.Uri ?? '';
      const { body } = await client.get(uri.replace(/^https:..[^/]*/, ''));
      for (const { AttributeName } of Object(Reflect.get(Object(body.RegistryEntries), 'Attributes')))
        defined.add(AttributeName);
    }
    const shown = [bios, ...Object.values(managerAttributes)].filter(({ registryId }) => registryId !== undefined);
    for (const name of shown.flatMap((set) => Object.keys(factoryOf(set)))) assert.ok(defined.has(name), name);
  });
}

test('machines with the factory settings share them, also after a start', async () => {
  await using fixture = await openFixture();
  const other = await fixture.fleet.add();
  fixture.start();
  assert.equal(fixture.node.machine.biosAttributes, other.machine.biosAttributes);
});

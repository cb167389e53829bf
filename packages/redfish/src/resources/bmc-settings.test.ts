import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import { readBmcSettings, writeBmcSettings } from './bmc-settings.ts';

const manager = '/redfish/v1/Managers/BMC';
const uuid = 'AAAA';
const link = (path: string) => ({ '@odata.id': path });

async function openFixture(resources: Record<string, object> = {}) {
  const stack = new AsyncDisposableStack();
  const stub = stack.use(await StubBmc.start());
  for (const [path, resource] of Object.entries(resources)) stub.set(path, resource);
  const bmc = stack.use(openStubClient(stub));
  const sent = () =>
    stub.received
      .filter(({ method, path }) => method !== 'GET' && !path.endsWith('/Sessions'))
      .map(({ method, path, body }) => ({ method, path, body }));
  const read = (desired: Record<string, string>, secretNames?: ReadonlySet<string>) =>
    readBmcSettings(bmc, uuid, desired, { secretNames });
  const apply = async (desired: Record<string, string>) =>
    writeBmcSettings(bmc, uuid, desired, (await read(desired)).changes);
  return { stub, bmc, sent, read, apply, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const standard = {
  [manager]: {
    UUID: uuid,
    Attributes: { Ntp: false, Port: 22, Name: 'bmc' },
    '@Redfish.Settings': { SettingsObject: link(`${manager}/Settings`), SupportedApplyTimes: ['Immediate'] },
  },
  [`${manager}/Settings`]: { Attributes: { Port: 23, Name: 'bmc' } },
};

const group = (id: string) => `${manager}/DellAttributes/${id}`;
const grouped = {
  [manager]: {
    UUID: uuid,
    Links: { Oem: { Dell: { DellAttributes: [link(group('iDRAC')), link(group('System')), 7] } } },
  },
  [group('iDRAC')]: {
    Attributes: { 'NTP.1.Enable': 'Disabled', 'NTPConfigGroup.1.NTPEnable': 'Disabled', 'Name.1': '' },
  },
  [group('System')]: { Attributes: { 'Power.1.Cap': 100, 'Name.1': '' } },
};

test('attributes of a manager are compared by type, with those that wait', async () => {
  await using fixture = await openFixture(standard);
  const { changes, problems, pending, needsReset } = await fixture.read({ Ntp: 'true', Port: '22', Nam: 'x' });
  assert.deepEqual(changes, [{ name: 'Ntp', from: false, to: true, needsReset: false }]);
  assert.deepEqual(problems, [{ name: 'Nam', message: 'is unknown; did you mean Name?' }]);
  assert.deepEqual([pending, needsReset], [['Port'], false]);
});

test('attributes of a manager are sent to its settings object, at once', async () => {
  await using fixture = await openFixture(standard);
  await fixture.apply({ Ntp: 'true', Port: '24' });
  const body = { Attributes: { Ntp: true, Port: 24 }, '@Redfish.SettingsApplyTime': { ApplyTime: 'Immediate' } };
  assert.deepEqual(fixture.sent(), [{ method: 'PATCH', path: `${manager}/Settings`, body }]);
});

test('a registry decides whether a change needs a restart of the BMC', async () => {
  const registry = {
    RegistryEntries: { Attributes: [{ AttributeName: 'Port', Type: 'Integer', ResetRequired: true }] },
  };
  await using fixture = await openFixture({
    ...standard,
    '/redfish/v1/Registries': { Members: [link('/redfish/v1/Registries/ManagerAttributeRegistry.v1_0_0')] },
    '/redfish/v1/Registries/ManagerAttributeRegistry.v1_0_0': { Location: [{ Uri: '/r' }] },
    '/r': registry,
  });
  assert.equal((await fixture.read({ Port: '23' })).needsReset, true);
  assert.equal((await fixture.read({ Ntp: 'true' })).needsReset, false);
});

test('a value that waits has the name that was given', async () => {
  const path = `${group('System')}/Settings`;
  const waiting = { ...grouped[group('System')], '@Redfish.Settings': { SettingsObject: link(path) } };
  await using fixture = await openFixture({
    ...grouped,
    [group('System')]: waiting,
    [path]: { Attributes: { 'Name.1': 'x', 'Power.1.Cap': 1 } },
  });
  assert.deepEqual((await fixture.read({ 'System/Name.1': 'x' })).pending, ['Power.1.Cap', 'System/Name.1']);
});

test('each change is sent to the group of its attribute', async () => {
  await using fixture = await openFixture(grouped);
  await fixture.apply({ 'NTP.1.Enable': 'Enabled', 'Power.1.Cap': '90', 'System/Name.1': 'rack' });
  assert.deepEqual(fixture.sent(), [
    { method: 'PATCH', path: group('iDRAC'), body: { Attributes: { 'NTP.1.Enable': 'Enabled' } } },
    { method: 'PATCH', path: group('System'), body: { Attributes: { 'Name.1': 'rack', 'Power.1.Cap': 90 } } },
  ]);
});

test('a name in two groups, and one in none, is a problem; changes keep the name that was given', async () => {
  await using fixture = await openFixture(grouped);
  const desired = { 'Name.1': 'x', 'Power.1.Cpa': '1', 'System/Power.1.Cap': '90', 'iDRAC/Power.1.Cap': '90' };
  const { changes, problems } = await fixture.read(desired);
  assert.deepEqual(
    changes.map(({ name }) => name),
    ['System/Power.1.Cap'],
  );
  assert.deepEqual(
    problems.map(({ name, message }) => `${name}: ${message}`),
    [
      'Name.1: is in the groups iDRAC, System: write <group>/Name.1',
      'Power.1.Cpa: is unknown; did you mean Power.1.Cap?',
      'iDRAC/Power.1.Cap: is unknown',
    ],
  );
});

test('nothing is sent when an attribute is gone', async () => {
  await using fixture = await openFixture(grouped);
  const changes = ['Power.1.Cap', 'Gone.1'].map((name) => ({ name, from: undefined, to: 1, needsReset: false }));
  const write = writeBmcSettings(fixture.bmc, uuid, {}, changes);
  await assert.rejects(write, { code: 'NotFound', message: /Gone\.1: is unknown/ });
  assert.deepEqual(fixture.sent(), []);
});

test('an attribute that an iDRAC applies with a restart needs one, though no registry has it', async () => {
  await using fixture = await openFixture(grouped);
  assert.equal((await fixture.read({ 'NTPConfigGroup.1.NTPEnable': 'Enabled' })).needsReset, true);
});

test('a manager without attributes is NotSupported, another manager is IdentityMismatch, and nothing is sent to either', async () => {
  await using fixture = await openFixture();
  await assert.rejects(fixture.read({ Ntp: 'true' }), { code: 'NotSupported', message: /PATCH <path>/ });
  const key = `PATCH ${manager}/NetworkProtocol`;
  const change = { name: key, from: undefined, to: '{}', needsReset: false };
  const write = writeBmcSettings(fixture.bmc, 'BBBB', { [key]: '{}' }, [change]);
  await assert.rejects(write, { code: 'IdentityMismatch' });
  assert.deepEqual(fixture.sent(), []);
});

const protocol = `${manager}/NetworkProtocol`;
const resource = {
  NTP: { ProtocolEnabled: true, NTPServers: ['a', 'b'] },
  Users: [{ Name: 'x', Id: 1 }],
  Password: null,
};
const compared: [title: string, desired: object, isEqual: boolean][] = [
  ['a part of it', { NTP: { ProtocolEnabled: true } }, true],
  ['nothing', {}, true],
  ['equal arrays', { NTP: { NTPServers: ['a', 'b'] } }, true],
  ['an array in another order', { NTP: { NTPServers: ['b', 'a'] } }, false],
  ['an array of which it keeps an element', { NTP: { NTPServers: [{}, 'b'] } }, true],
  ['an array from which an element is removed', { NTP: { NTPServers: ['a', null] } }, false],
  ['an array without an element that it does not have', { NTP: { NTPServers: ['a', 'b', null] } }, true],
  ['a shorter array', { NTP: { NTPServers: ['a'] } }, false],
  ['a part of an object in an array', { Users: [{ Name: 'x' }] }, true],
  ['another value', { NTP: { ProtocolEnabled: false } }, false],
  ['a text for a boolean', { NTP: { ProtocolEnabled: 'true' } }, false],
  ['a property that it does not have', { SSH: { Port: 22 } }, false],
  ['null for a property that it does not have', { SSH: null }, true],
  ['a property of every object', { constructor: {} }, false],
];
for (const [title, desired, isEqual] of compared) {
  test(`a resource that is to have ${title} is ${isEqual ? 'as desired' : 'changed'}`, async () => {
    await using fixture = await openFixture({ [protocol]: resource });
    const key = `PATCH ${protocol}`;
    const { changes, problems } = await fixture.read({ [key]: JSON.stringify(desired) });
    assert.deepEqual(problems, []);
    const change = { name: key, from: undefined, to: JSON.stringify(desired), needsReset: false };
    assert.deepEqual(changes, isEqual ? [] : [change]);
  });
}

const problematic: [title: string, name: string, value: string, message: RegExp][] = [
  ['another method', `PUT ${protocol}`, '{}', /^expected "PATCH <path>" or "POST <path>"/],
  ['a URL', 'PATCH https://elsewhere/redfish/v1', '{}', /with an absolute path/],
  ['a value that is no JSON', `PATCH ${protocol}`, '{"Token":hunter2', /^expected a JSON object as its value/],
  ['a value that is no object', `PATCH ${protocol}`, '["hunter2"]', /^expected a JSON object as its value/],
  [
    'an object of endless levels',
    `PATCH ${protocol}`,
    '{"A":'.repeat(9_999) + '1' + '}'.repeat(9_999),
    /^expected a JSON object/,
  ],
  ['a property that is never shown', `PATCH ${protocol}`, '{"Password":"hunter2"}', /^Password is never shown/],
  ['a POST to no collection', `POST ${protocol}`, '{"Name":"hunter2"}', /^expected the path of a collection/],
];
for (const [title, name, value, message] of problematic) {
  test(`${title} is a problem, whose message has no value`, async () => {
    await using fixture = await openFixture({ [protocol]: resource });
    const { changes, problems } = await fixture.read({ [name]: value });
    assert.deepEqual(changes, []);
    assert.match(problems[0]?.message ?? '', message);
    assert.doesNotMatch(problems[0]?.message ?? '', /hunter2/);
  });
}

test('resources are changed one after the other, in the order of their names, until one fails', async () => {
  const paths = ['b', 'a', 'c'].map((name) => `/redfish/v1/${name}`);
  await using fixture = await openFixture(Object.fromEntries(paths.map((path) => [path, { On: false }])));
  fixture.stub.intercept = ({ method, path }, response) => {
    const isRejected = method === 'PATCH' && path.endsWith('/b');
    if (isRejected) json(response, 400, { error: { message: 'the value hunter2 is wrong' } });
    return isRejected;
  };
  const desired = Object.fromEntries(paths.map((path) => [`PATCH ${path}`, '{"On":true,"Key":"hunter2"}']));
  await assert.rejects(fixture.apply(desired), { code: 'HttpError', message: /the value \*\*\* is wrong/ });
  assert.deepEqual(
    fixture.sent().map(({ path }) => path),
    ['/redfish/v1/a', '/redfish/v1/b'],
  );
});

test('a member is created once: afterwards the collection has one like it, whose password is not shown', async () => {
  const users = `${manager}/SNMPUsers`;
  await using fixture = await openFixture({ [users]: { Members: [] } });
  const desired = { [`POST ${users}`]: '{"UserName":"probe","Password":"hunter2","Roles":{"Read":true}}' };
  await fixture.apply(desired);
  assert.deepEqual(
    fixture.sent().map(({ method, path }) => `${method} ${path}`),
    [`POST ${users}`],
  );
  fixture.stub.collection(users, {
    '1': { UserName: 'other', Password: null },
    '2': { UserName: 'probe', Password: null, Roles: { Read: true, Write: false } },
  });
  await fixture.apply(desired);
  assert.equal(fixture.sent().length, 1);
});

test('a resource that answers without a body has no properties', async () => {
  await using fixture = await openFixture({ [protocol]: {} });
  fixture.stub.intercept = ({ method, path }, response) => {
    const isEmpty = method === 'GET' && path === protocol;
    if (isEmpty) json(response, 204);
    return isEmpty;
  };
  assert.equal((await fixture.read({ [`PATCH ${protocol}`]: '{"On":true}' })).changes.length, 1);
});

test('a resource that is not there is an error: a BMC that restarts has it later', async () => {
  await using fixture = await openFixture();
  await assert.rejects(fixture.read({ [`PATCH ${protocol}`]: '{}' }), { code: 'NotFound' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import { clearPendingBiosAttributes, readBiosAttributes, writeBiosAttributes } from './bios-attributes.ts';

const uri = '/redfish/v1/Systems/1';
const bios = `${uri}/Bios`;
const settings = `${bios}/Settings`;
const registries = '/redfish/v1/Registries';
const link = (path: string) => ({ '@odata.id': path });
const definitions = { RegistryEntries: { Attributes: [{ AttributeName: 'Mode', Type: 'String' }] } };

const current = { Mode: 'A', Cores: 64 };
const usual = {
  Attributes: current,
  AttributeRegistry: 'BiosAttributeRegistry.v1_0_0',
  '@Redfish.Settings': { SettingsObject: link(settings), SupportedApplyTimes: ['OnReset', 'Immediate'] },
};

async function openFixture({ resource = usual, pending = {} }: { resource?: object; pending?: object } = {}) {
  const stack = new AsyncDisposableStack();
  const stub = stack.use(await StubBmc.start());
  stub.set(uri, { UUID: 'A', BiosVersion: '1.0', Bios: link(bios) });
  stub.set(bios, resource);
  stub.set(settings, { Attributes: pending });
  const bmc = stack.use(openStubClient(stub));
  const sent = () => stub.received.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/Sessions'));
  return { stub, bmc, sent, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const change = (name: string, to: string | number) => ({ name, from: undefined, to, needsReset: true });

test('pending values are those that differ from the current ones', async () => {
  const pending = { Mode: 'A', Cores: '64', Other: null, Turbo: 'On', Alpha: 1 };
  await using fixture = await openFixture({ pending });
  const observed = await readBiosAttributes(fixture.bmc, uri);
  assert.deepEqual(Object.entries(observed.pending), [
    ['Alpha', 1],
    ['Turbo', 'On'],
  ]);
});

test('a reset to the defaults that waits is seen on the BIOS and on its settings object', async () => {
  for (const [resource, pending] of [
    [{ ...usual, ResetBiosToDefaultsPending: true }, {}],
    [usual, { ResetBiosToDefaultsPending: true }],
  ] as const) {
    await using fixture = await openFixture({ resource });
    fixture.stub.set(settings, pending);
    assert.equal((await readBiosAttributes(fixture.bmc, uri)).isResetPending, true);
  }
});

test('a BIOS without a settings object and without a registry is read, and written itself', async () => {
  await using fixture = await openFixture({ resource: { Attributes: current } });
  const observed = await readBiosAttributes(fixture.bmc, uri);
  assert.deepEqual(observed, { current, pending: {}, registry: undefined, isResetPending: false, biosVersion: '1.0' });
  await writeBiosAttributes(fixture.bmc, uri, () => [change('Mode', 'B')]);
  assert.deepEqual(
    fixture.sent().map(({ method, path, body }) => ({ method, path, body })),
    [{ method: 'PATCH', path: bios, body: { Attributes: { Mode: 'B' } } }],
  );
});

test('attributes are sent in the order of their names, with the apply time that the BMC supports', async () => {
  await using fixture = await openFixture();
  await writeBiosAttributes(fixture.bmc, uri, () => [change('Mode', 'B'), change('Cores', 8)], { expectedUuid: 'A' });
  const [{ path, body } = assert.fail()] = fixture.sent();
  assert.equal(path, settings);
  assert.equal(
    JSON.stringify(body),
    '{"Attributes":{"Cores":8,"Mode":"B"},"@Redfish.SettingsApplyTime":{"ApplyTime":"OnReset"}}',
  );
});

test('attributes are read once before they are written', async () => {
  await using fixture = await openFixture();
  await writeBiosAttributes(fixture.bmc, uri, ({ current: { Mode } }) => (Mode === 'B' ? [] : [change('Mode', 'B')]));
  assert.equal(fixture.sent().length, 1);
  assert.equal(fixture.stub.count(`GET ${settings}`), 1);
});

test('nothing is sent to another machine, and nothing without a change', async () => {
  await using fixture = await openFixture();
  const write = writeBiosAttributes(fixture.bmc, uri, () => [change('Mode', 'B')], { expectedUuid: 'B' });
  await assert.rejects(write, { code: 'IdentityMismatch' });
  await assert.rejects(clearPendingBiosAttributes(fixture.bmc, uri, { expectedUuid: 'B' }), {
    code: 'IdentityMismatch',
  });
  await writeBiosAttributes(fixture.bmc, uri, () => []);
  assert.deepEqual(fixture.sent(), []);
});

for (const [title, resource, code] of [
  ['without a BIOS resource', undefined, 'NotSupported'],
  ['whose BIOS has no attributes yet', { ...usual, Attributes: {} }, 'BadAnswer'],
  ['whose attributes are no object', { ...usual, Attributes: 'none' }, 'BadAnswer'],
] as const) {
  test(`a system ${title} is ${code}`, async () => {
    await using fixture = await openFixture();
    if (resource === undefined) fixture.stub.set(uri, { UUID: 'A' });
    else fixture.stub.set(bios, resource);
    await assert.rejects(readBiosAttributes(fixture.bmc, uri), { code });
  });
}

const places: [title: string, resources: Record<string, object>, isFound: boolean][] = [
  [
    'in a language of several, by an absolute URL',
    {
      [`${registries}/BiosAttributeRegistry.v1_0_0`]: {
        Location: [
          { Language: 'de', Uri: '/de' },
          { Language: 'en', Uri: 'https://bmc.internal/en' },
        ],
      },
      '/en': definitions,
    },
    true,
  ],
  [
    'of another version of the same name',
    {
      [`${registries}/Other.v1`]: {},
      [`${registries}/BiosAttributeRegistry.1.1`]: { Location: [{ Uri: '/r' }] },
      '/r': definitions,
    },
    true,
  ],
  [
    'behind a link that does not name it',
    {
      [`${registries}/1`]: {},
      [`${registries}/2`]: { Registry: 'BiosAttributeRegistry.v1_0_0', Location: [{ Uri: '/r' }] },
      '/r': definitions,
    },
    true,
  ],
  ['in the place of its locator', { [`${registries}/BiosAttributeRegistry.v1_0_0`]: definitions }, true],
  [
    'whose locator has the beginning of its name',
    { [`${registries}/BiosAttributeReg.v1_0_0`]: { Location: [{ Uri: '/r' }] }, '/r': definitions },
    true,
  ],
  ['without a location', { [`${registries}/BiosAttributeRegistry.v1_0_0`]: { Location: [] } }, false],
  [
    'with a location of another shape',
    { [`${registries}/BiosAttributeRegistry.v1_0_0`]: { Location: [7, {}] } },
    false,
  ],
  ['that is gone', { [`${registries}/BiosAttributeRegistry.v1_0_0`]: { Location: [{ Uri: '/gone' }] } }, false],
  ['that the collection does not have', { [`${registries}/Base.1.0`]: {} }, false],
];
for (const [title, resources, isFound] of places) {
  test(`a registry ${title} is ${isFound ? 'found' : 'none'}`, async () => {
    await using fixture = await openFixture();
    const { stub, bmc } = fixture;
    for (const [path, resource] of Object.entries(resources)) stub.set(path, resource);
    stub.set(registries, {
      Members: Object.keys(resources)
        .filter((path) => path.startsWith(registries))
        .map(link),
    });
    const { registry } = await readBiosAttributes(bmc, uri);
    assert.equal(registry?.definitions.has('Mode'), isFound ? true : undefined);
  });
}

test('the registry is read once for each version of the BIOS', async () => {
  await using fixture = await openFixture();
  const { stub, bmc } = fixture;
  stub.set(registries, { Members: [link(`${registries}/BiosAttributeRegistry.v1_0_0`)] });
  stub.set(`${registries}/BiosAttributeRegistry.v1_0_0`, { Location: [{ Uri: '/r' }] });
  stub.set('/r', definitions);
  await readBiosAttributes(bmc, uri);
  await readBiosAttributes(bmc, uri);
  assert.equal(stub.count('GET /r'), 1);
  stub.set(uri, { UUID: 'A', BiosVersion: '2.0', Bios: link(bios) });
  await readBiosAttributes(bmc, uri);
  assert.equal(stub.count('GET /r'), 2);
  assert.equal(stub.count(`GET ${registries}`), 1, 'its place is known');
  stub.set(uri, { UUID: 'A', BiosVersion: '3.0', Bios: link(bios) });
  stub.resources.delete('/r');
  stub.set(`${registries}/BiosAttributeRegistry.v1_0_0`, { Location: [{ Uri: '/moved' }] });
  stub.set('/moved', definitions);
  assert.ok((await readBiosAttributes(bmc, uri)).registry, 'a registry that is gone from its place is searched');
});

test('a registry that fails is an error: without it valid names would be unknown', async () => {
  await using fixture = await openFixture();
  fixture.stub.set(registries, { Members: [link(`${registries}/BiosAttributeRegistry.v1_0_0`)] });
  fixture.stub.intercept = ({ path }, response) => {
    if (path.endsWith('BiosAttributeRegistry.v1_0_0')) json(response, 500, {});
    return path.endsWith('BiosAttributeRegistry.v1_0_0');
  };
  await assert.rejects(readBiosAttributes(fixture.bmc, uri), { code: 'HttpError' });
});

test('equal registries of two BMCs are one object', async () => {
  const registriesRead = await Promise.all(
    [1, 2].map(async () => {
      await using fixture = await openFixture();
      fixture.stub.set(registries, { Members: [link(`${registries}/BiosAttributeRegistry.v1_0_0`)] });
      fixture.stub.set(`${registries}/BiosAttributeRegistry.v1_0_0`, definitions);
      return (await readBiosAttributes(fixture.bmc, uri)).registry;
    }),
  );
  assert.ok(registriesRead[0]);
  assert.equal(registriesRead[0], registriesRead[1]);
});

test('a change carries the ETag of the settings object, and is sent once more without it', async () => {
  await using fixture = await openFixture();
  fixture.stub.set(settings, { '@odata.etag': '"7"', Attributes: {} });
  fixture.stub.intercept = ({ method, headers }, response) => {
    const isRejected = method === 'PATCH' && headers['if-match'] !== undefined;
    if (isRejected) json(response, 412, {});
    return isRejected;
  };
  await writeBiosAttributes(fixture.bmc, uri, () => [change('Mode', 'B')]);
  assert.deepEqual(
    fixture.sent().map(({ headers }) => headers['if-match']),
    ['"7"', undefined],
  );
});

test('a rejected value is not in the error, also where the explanation is cut', async () => {
  const secret = 'correct-horse-battery-staple';
  const words = 'The value of the property Attributes/Mode is not acceptable because ';
  for (const padding of ['', words]) {
    await using fixture = await openFixture();
    fixture.stub.intercept = ({ method }, response) => {
      if (method === 'PATCH') json(response, 400, { error: { message: `${padding}${secret} is not in the list` } });
      return method === 'PATCH';
    };
    await assert.rejects(
      writeBiosAttributes(fixture.bmc, uri, () => [change('Mode', secret)]),
      (error) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, /answered PATCH .* with 400: .*\*\*\*/);
        assert.doesNotMatch(error.message, /correct/);
        return true;
      },
    );
  }
});

for (const holder of ['settings object', 'BIOS'] as const) {
  test(`pending values are withdrawn by the action of the vendor, of the ${holder}`, async () => {
    const target = `${settings}/Actions/Oem/DellManager.ClearPending`;
    const offered = { Actions: { Oem: { '#DellManager.ClearPending': { target } } } };
    await using fixture = await openFixture();
    const { stub, bmc } = fixture;
    stub.set(settings, { Attributes: { Mode: 'B' }, ...(holder === 'BIOS' ? {} : offered) });
    if (holder === 'BIOS') stub.set(bios, { ...usual, ...offered });
    stub.intercept = ({ method, path }, response) => {
      if (method !== 'POST' || path !== target) return false;
      stub.set(settings, { Attributes: {} });
      json(response, 200, {});
      return true;
    };
    await clearPendingBiosAttributes(bmc, uri);
    assert.equal(fixture.sent().length, 1);
  });
}

test('pending values that a BMC cannot withdraw are NotSupported, also a reset to the defaults', async () => {
  await using fixture = await openFixture({ pending: { Mode: 'B' } });
  fixture.stub.intercept = ({ method, path }, response) => {
    const isRejected = method === 'DELETE' || (method === 'PATCH' && path === settings);
    if (isRejected) json(response, 400, { error: { message: 'a job is scheduled' } });
    return isRejected;
  };
  const withdrawn = () => clearPendingBiosAttributes(fixture.bmc, uri);
  await assert.rejects(withdrawn, {
    code: 'NotSupported',
    message: /pending BIOS settings cannot be withdrawn: .* a job is scheduled/,
  });
  fixture.stub.set(bios, { ...usual, ResetBiosToDefaultsPending: true });
  await assert.rejects(withdrawn, { code: 'NotSupported', message: /a reset to the defaults/ });
});

test('nothing is sent while nothing waits', async () => {
  await using fixture = await openFixture({ pending: { Mode: 'A' } });
  await clearPendingBiosAttributes(fixture.bmc, uri);
  assert.deepEqual(fixture.sent(), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import type { Bmc } from '../http/bmc.ts';
import { bootFromDiskOnce, clearBootOverride, networkBootOnce, setBootOrder } from './boot-override.ts';

const uri = '/redfish/v1/Systems/1';
const settings = `${uri}/Settings`;

/** The changes of a system: path and body of each PATCH. */
async function changes(
  resource: object,
  act: (bmc: Bmc, stub: StubBmc) => Promise<unknown>,
  more: Record<string, object> = {},
) {
  await using stub = await StubBmc.start();
  stub.set(uri, resource);
  for (const [path, other] of Object.entries(more)) stub.set(path, other);
  await using bmc = openStubClient(stub);
  await act(bmc, stub);
  return stub.received.filter(({ method }) => method === 'PATCH').map(({ path, body }) => [path, body]);
}

const pxe = { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Pxe' };
const modeUefi = { BootSourceOverrideMode: 'UEFI' };

const modes: [string, string, string | undefined, object][] = [
  ['Contoso', 'in UEFI mode receives no mode', 'UEFI', {}],
  ['Contoso', 'in legacy mode is switched to UEFI', 'Legacy', modeUefi],
  ['Contoso', 'without a mode receives none', undefined, {}],
  ['Dell Inc.', 'in UEFI mode receives no mode', 'UEFI', {}],
  ['HPE', 'in legacy mode is switched to UEFI', 'Legacy', modeUefi],
  ['Lenovo', 'in UEFI mode receives no mode', 'UEFI', {}],
  ['Supermicro', 'in UEFI mode receives the mode again', 'UEFI', modeUefi],
  ['Supermicro', 'without a mode receives none', undefined, {}],
];
for (const [Manufacturer, what, BootSourceOverrideMode, added] of modes) {
  test(`the network boot of a ${Manufacturer} system ${what}`, async () => {
    const resource = { Manufacturer, Boot: { BootSourceOverrideMode } };
    const sent = await changes(resource, (bmc) => networkBootOnce(bmc, uri, ['Pxe']));
    assert.deepEqual(sent, [[uri, { Boot: { ...pxe, ...added } }]]);
  });
}

const http = { ...pxe, BootSourceOverrideTarget: 'UefiHttp' };
const offering = (...targets: string[]) => ({ 'BootSourceOverrideTarget@Redfish.AllowableValues': targets });

for (const [title, Boot, sent] of [
  ['takes the address from DHCP', { HttpBootUri: null }, http],
  ['clears an HttpBootUri that was left', { HttpBootUri: 'http://left/x.efi' }, { ...http, HttpBootUri: '' }],
  ['is replaced by the next target when it is not offered', offering('Pxe', 'Hdd'), pxe],
  ['is sent when no targets are advertised', {}, http],
] as const) {
  test(`UEFI HTTP boot ${title}`, async () => {
    const changed = await changes({ Boot }, (bmc) => networkBootOnce(bmc, uri, ['UefiHttp', 'Pxe']));
    assert.deepEqual(changed, [[uri, { Boot: sent }]]);
  });
}

test('a target that the BMC offers and rejects is replaced by the next one, which reports the rejection', async () => {
  const sent = await changes({ Boot: offering('UefiHttp', 'Pxe') }, async (bmc, stub) => {
    stub.intercept = ({ method, body }, response) => {
      const isRejected = method === 'PATCH' && JSON.stringify(body).includes('UefiHttp');
      if (isRejected) json(response, 400, { error: { message: 'not licensed' } });
      return isRejected;
    };
    const { target, rejections } = await networkBootOnce(bmc, uri, ['UefiHttp', 'Pxe']);
    assert.equal(target, 'Pxe');
    assert.match(rejections[0]?.message ?? '', /not licensed/);
  });
  assert.deepEqual(
    sent.map(([, body]) => body),
    [{ Boot: http }, { Boot: pxe }],
  );
});

test('a target that the BMC does not offer is not sent', async () => {
  const Boot = { 'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe', 'Hdd'] };
  const act = (bmc: Bmc) =>
    assert.rejects(networkBootOnce(bmc, uri, ['UefiHttp']), {
      code: 'NotSupported',
      message: /UefiHttp; it offers None, Pxe, Hdd/,
    });
  assert.deepEqual(await changes({ Boot }, act), []);
});

test('the boot from disk is set once', async () => {
  const sent = await changes({ Boot: {} }, (bmc) => bootFromDiskOnce(bmc, uri));
  assert.deepEqual(sent, [[uri, { Boot: { ...pxe, BootSourceOverrideTarget: 'Hdd' } }]]);
});

test('an unused override is cleared, and a disabled one is not changed', async () => {
  const none = { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideTarget: 'None' };
  assert.deepEqual(await changes({ Boot: pxe }, (bmc) => clearBootOverride(bmc, uri)), [[uri, { Boot: none }]]);
  assert.deepEqual(await changes({ Boot: none }, (bmc) => clearBootOverride(bmc, uri)), []);
});

test('the destination of an earlier override is cleared, unless the BMC rejects it', async () => {
  const none = { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideTarget: 'None' };
  const left = { HttpBootUri: 'http://elsewhere.example/', UefiTargetBootSourceOverride: 'PciRoot(0)', BootNext: '' };
  const emptied = { HttpBootUri: null, UefiTargetBootSourceOverride: null };
  for (const before of [none, pxe])
    assert.deepEqual(await changes({ Boot: { ...before, ...left } }, (bmc) => clearBootOverride(bmc, uri)), [
      [uri, { Boot: { ...none, ...emptied } }],
    ]);
  const refusing = (bmc: Bmc, stub: StubBmc) => {
    stub.intercept = ({ method, body }, response) => {
      const isRejected = method === 'PATCH' && JSON.stringify(body).includes('null');
      if (isRejected) json(response, 400, { error: { message: 'no' } });
      return isRejected;
    };
    return clearBootOverride(bmc, uri);
  };
  assert.equal((await changes({ Boot: { ...none, ...left } }, refusing)).length, 1);
  const [, sent] = await changes({ Boot: { ...pxe, ...left } }, refusing);
  assert.deepEqual(sent, [uri, { Boot: none }]);
});

test('the other devices follow in the boot order, and the override is not changed', async () => {
  const Boot = { ...pxe, BootOrder: ['a', 'b', 'c'] };
  assert.deepEqual(await changes({ Boot }, (bmc) => setBootOrder(bmc, uri, ['c', 'a'])), [
    [uri, { Boot: { BootOrder: ['c', 'a', 'b'] } }],
  ]);
});

test('a boot order that begins with the devices is not sent', async () => {
  const Boot = { BootOrder: ['a', 'b', 'c'] };
  assert.deepEqual(await changes({ Boot }, (bmc) => setBootOrder(bmc, uri, ['a', 'b'])), []);
});

test('a pending boot order is not sent again', async () => {
  const resource = {
    Boot: { BootOrder: ['a', 'b'] },
    '@Redfish.Settings': { SettingsObject: { '@odata.id': settings } },
  };
  const more = { [settings]: { Boot: { BootOrder: ['b', 'a'] } } };
  const set = async (bmc: Bmc) => assert.equal(await setBootOrder(bmc, uri, ['b']), 'pending');
  assert.deepEqual(await changes(resource, set, more), []);
});

test('a BMC that accepts boot changes only on the settings object receives them there, with its ETag', async () => {
  const resource = { Boot: {}, '@Redfish.Settings': { SettingsObject: { '@odata.id': settings } } };
  const more = { [settings]: { '@odata.etag': '"s"' } };
  const sent = await changes(
    resource,
    async (bmc, stub) => {
      stub.intercept = ({ method, path }, response) => {
        const isRejected = method === 'PATCH' && path === uri;
        if (isRejected) json(response, 405, {});
        return isRejected;
      };
      await networkBootOnce(bmc, uri, ['Pxe']);
      assert.equal(stub.received.at(-1)?.headers['if-match'], '"s"');
    },
    more,
  );
  assert.deepEqual(
    sent.map(([path]) => path),
    [uri, settings],
  );
});

test('a rejection is an error without a settings object', async () => {
  const act = (bmc: Bmc, stub: StubBmc) => {
    stub.intercept = ({ method }, response) => {
      if (method === 'PATCH') json(response, 400, { error: { message: 'no' } });
      return method === 'PATCH';
    };
    return assert.rejects(networkBootOnce(bmc, uri, ['Pxe']), { code: 'HttpError', status: 400 });
  };
  await changes({ Boot: {} }, act);
});

for (const [title, did, status, outcome] of [
  ['set in spite of a status 500 is a success', true, 500, 'fulfilled'],
  ['not set with a status 500 is an error', false, 500, 'rejected'],
  ['rejected is not read again', true, 400, 'rejected'],
] as const) {
  test(`an override that was ${title}`, async () => {
    await using stub = await StubBmc.start();
    stub.set(uri, { Boot: {} });
    stub.intercept = ({ method }, response) => {
      if (method !== 'PATCH') return false;
      if (did) stub.set(uri, { Boot: pxe });
      json(response, status, { error: { message: 'something went wrong' } });
      return true;
    };
    await using bmc = openStubClient(stub);
    const [result] = await Promise.allSettled([networkBootOnce(bmc, uri, ['Pxe'])]);
    assert.equal(result.status, outcome);
  });
}

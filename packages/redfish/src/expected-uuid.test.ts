import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../test/stub-bmc.ts';
import type { Bmc } from './http/bmc.ts';
import { bootFromDiskOnce, clearBootOverride, networkBootOnce, setBootOrder } from './resources/boot-override.ts';
import { readInventory } from './resources/inventory.ts';
import { setLocatorLed } from './resources/led.ts';
import { RedfishError, wasNotApplied } from './errors.ts';
import { resetSystem } from './resources/power.ts';
import { readSystem, type SystemCallOptions } from './resources/systems.ts';

const uri = '/redfish/v1/Systems/1';
const ownUuid = '4C4C4544-0038-3010-8056-B7C04F4D3132';
const otherUuid = '11111111-2222-4333-8444-555555555555';
const serviceUuid = 'aaaabbbb-0000-4000-8000-000000000001';

const changes: Record<string, (bmc: Bmc, options: SystemCallOptions) => Promise<unknown>> = {
  resetSystem: (bmc, options) => resetSystem(bmc, uri, 'On', options),
  networkBootOnce: (bmc, options) => networkBootOnce(bmc, uri, ['Pxe'], options),
  bootFromDiskOnce: (bmc, options) => bootFromDiskOnce(bmc, uri, options),
  clearBootOverride: (bmc, options) => clearBootOverride(bmc, uri, options),
  setBootOrder: (bmc, options) => setBootOrder(bmc, uri, ['Boot0002'], options),
  setLocatorLed: (bmc, options) => setLocatorLed(bmc, uri, 'Lit', options),
};

const resetAction = {
  '#ComputerSystem.Reset': { target: `${uri}/Actions/ComputerSystem.Reset` },
};
/** A machine on which every change has an effect. */
const machine = {
  Actions: resetAction,
  IndicatorLED: 'Off',
  Boot: { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Pxe', BootOrder: ['Boot0001', 'Boot0002'] },
};

interface Fixture {
  readonly bmc: Bmc;
  readonly stub: StubBmc;
  /** Requests for the system and its subresources, after the login. */
  readonly requests: () => string[];
}

async function withMachine(resource: object, use: (call: Fixture) => Promise<void>): Promise<void> {
  await using stub = await StubBmc.start();
  stub.set(uri, { ...machine, ...resource });
  stub.intercept = ({ path }, response) => {
    const isRoot = path === '/redfish/v1/';
    const Links = { Sessions: { '@odata.id': '/redfish/v1/SessionService/Sessions' } };
    if (isRoot) json(response, 200, { '@odata.id': path, UUID: serviceUuid, Links });
    return isRoot;
  };
  await using bmc = openStubClient(stub);
  await use({ bmc, stub, requests: () => stub.log.filter((line) => line.includes(uri)) });
}

for (const [name, change] of Object.entries(changes)) {
  test(`${name} sends nothing to another machine than the expected one`, () =>
    withMachine({ UUID: otherUuid }, async ({ bmc, requests }) => {
      await assert.rejects(change(bmc, { expectedUuid: ownUuid }), {
        code: 'IdentityMismatch',
        message: `${uri} is expected to be ${ownUuid} and reports UUID ${otherUuid}; nothing was sent to it`,
      });
      assert.deepEqual(requests(), [`GET ${uri}`]);
    }));

  test(`${name} sends the same requests with an expected UUID, in any letter case`, () =>
    withMachine({ UUID: ownUuid }, async ({ bmc, stub, requests }) => {
      await change(bmc, { expectedUuid: ownUuid.toLowerCase() });
      const expectedRequests = requests();
      assert.equal(expectedRequests.length, 2);
      stub.set(uri, { ...machine, UUID: otherUuid });
      await change(bmc, {});
      assert.deepEqual(requests().slice(expectedRequests.length), expectedRequests);
    }));
}

const derived: [of: string, resource: object, moved: object][] = [
  [
    'the serial number',
    { Manufacturer: 'Contoso', SerialNumber: 'SN1' },
    { Manufacturer: 'Contoso', SerialNumber: 'SN2' },
  ],
  ['the service', {}, { Manufacturer: 'Contoso', SerialNumber: 'SN2' }],
];
for (const [of, resource, moved] of derived) {
  test(`a machine without a UUID is identified by the one derived from ${of}`, () =>
    withMachine(resource, async ({ bmc, stub }) => {
      const expectedUuid = (await readSystem(bmc, uri)).uuid;
      assert.notEqual(expectedUuid, undefined);
      assert.equal(await resetSystem(bmc, uri, 'On', { expectedUuid }), 'On');
      stub.set(uri, { ...machine, ...moved });
      await assert.rejects(resetSystem(bmc, uri, 'On', { expectedUuid }), { code: 'IdentityMismatch' });
    }));
}

test('the inventory of another machine than the expected one is not read', () =>
  withMachine({ UUID: otherUuid }, ({ bmc }) =>
    assert.rejects(readInventory(bmc, uri, { expectedUuid: ownUuid }), { code: 'IdentityMismatch' }),
  ));

test('a change that failed with IdentityMismatch was certainly not applied', () => {
  assert.ok(wasNotApplied(new RedfishError({ code: 'IdentityMismatch', message: 'another' })));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeskBmc, json, talkTo } from '../test/desk-bmc.ts';
import type { Bmc } from './bmc.ts';
import { bootFromDiskOnce, clearBootOverride, networkBootOnce, setBootOrder } from './boot-override.ts';
import { readInventory } from './inventory.ts';
import { setLocatorLed } from './led.ts';
import { RedfishError, wasRefused } from './errors.ts';
import { resetSystem } from './power.ts';
import { readSystem, type SystemCallOptions } from './systems.ts';

const uri = '/redfish/v1/Systems/1';
const own = '4C4C4544-0038-3010-8056-B7C04F4D3132';
const other = '11111111-2222-4333-8444-555555555555';
const serviceUuid = 'aaaabbbb-0000-4000-8000-000000000001';

const changes: Record<string, (bmc: Bmc, options: SystemCallOptions) => Promise<unknown>> = {
  resetSystem: (bmc, options) => resetSystem(bmc, uri, 'On', options),
  networkBootOnce: (bmc, options) => networkBootOnce(bmc, uri, ['Pxe'], options),
  bootFromDiskOnce: (bmc, options) => bootFromDiskOnce(bmc, uri, options),
  clearBootOverride: (bmc, options) => clearBootOverride(bmc, uri, options),
  setBootOrder: (bmc, options) => setBootOrder(bmc, uri, ['Boot0002'], options),
  setLocatorLed: (bmc, options) => setLocatorLed(bmc, uri, 'Lit', options),
};

/** A machine that every change has something to change on. */
const machine = {
  IndicatorLED: 'Off',
  Boot: { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Pxe', BootOrder: ['Boot0001', 'Boot0002'] },
};

interface Call {
  readonly bmc: Bmc;
  readonly desk: DeskBmc;
  /** Requests for the system and what is under it, after the login. */
  readonly requests: () => string[];
}

async function calling(resource: object, use: (call: Call) => Promise<void>): Promise<void> {
  await using desk = await DeskBmc.start();
  desk.set(uri, { ...machine, ...resource });
  desk.intercept = ({ path }, response) => {
    const isRoot = path === '/redfish/v1/';
    const Links = { Sessions: { '@odata.id': '/redfish/v1/SessionService/Sessions' } };
    if (isRoot) json(response, 200, { '@odata.id': path, UUID: serviceUuid, Links });
    return isRoot;
  };
  await using bmc = talkTo(desk);
  await use({ bmc, desk, requests: () => desk.log.filter((line) => line.includes(uri)) });
}

for (const [name, change] of Object.entries(changes)) {
  test(`${name} sends nothing to another machine than the one that is meant`, () =>
    calling({ UUID: other }, async ({ bmc, requests }) => {
      await assert.rejects(change(bmc, { expectedUuid: own }), {
        code: 'IdentityMismatch',
        message: `${uri} is expected to be ${own} and reports UUID ${other}; nothing was sent to it`,
      });
      assert.deepEqual(requests(), [`GET ${uri}`]);
    }));

  test(`${name} costs the same when it is told the machine, in any spelling`, () =>
    calling({ UUID: own }, async ({ bmc, desk, requests }) => {
      await change(bmc, { expectedUuid: own.toLowerCase() });
      const told = requests();
      assert.equal(told.length, 2);
      desk.set(uri, { ...machine, UUID: other });
      await change(bmc, {});
      assert.deepEqual(requests().slice(told.length), told);
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
  test(`a machine without UUID is told by the one that is derived from ${of}`, () =>
    calling(resource, async ({ bmc, desk }) => {
      const expectedUuid = (await readSystem(bmc, uri)).uuid;
      assert.notEqual(expectedUuid, undefined);
      assert.equal(await resetSystem(bmc, uri, 'On', { expectedUuid }), 'On');
      desk.set(uri, moved);
      await assert.rejects(resetSystem(bmc, uri, 'On', { expectedUuid }), { code: 'IdentityMismatch' });
    }));
}

test('the hardware of another machine is not read as that of this one', () =>
  calling({ UUID: other }, ({ bmc }) =>
    assert.rejects(readInventory(bmc, uri, { expectedUuid: own }), { code: 'IdentityMismatch' }),
  ));

test('what was not sent because of another machine was certainly not done', () => {
  assert.ok(wasRefused(new RedfishError({ code: 'IdentityMismatch', message: 'another' })));
});

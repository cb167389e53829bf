import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, openStubClient } from '../../test/stub-bmc.ts';
import { powerStateOf, readSystem, readSystems, type SystemState } from './systems.ts';

const uri = '/redfish/v1/Systems/1';

async function readState(resource: object): Promise<SystemState> {
  await using stub = await StubBmc.start();
  stub.set(uri, resource);
  await using bmc = openStubClient(stub);
  return await readSystem(bmc, uri);
}

test('a system is read with its state', async () => {
  const state = await readState({
    '@odata.etag': 'W/"7"',
    UUID: '4C4C4544-0038-3010-8056-B7C04F4D3132',
    Manufacturer: ' Dell Inc. ',
    Model: 'PowerEdge R640',
    SerialNumber: 'ABC',
    SKU: 'DEF',
    BiosVersion: '2.1',
    PowerState: 'On',
    Status: { Health: 'OK' },
    MemorySummary: { TotalSystemMemoryGiB: 96.5 },
    LocationIndicatorActive: true,
    Boot: {
      BootOrder: ['a', 'b'],
      BootSourceOverrideEnabled: 'Once',
      BootSourceOverrideTarget: 'Pxe',
      BootSourceOverrideMode: 'UEFI',
      'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe'],
    },
    Actions: { '#ComputerSystem.Reset': { 'ResetType@Redfish.AllowableValues': ['On'] } },
  });
  assert.deepEqual(state, {
    uri,
    uuid: '4c4c4544-0038-3010-8056-b7c04f4d3132',
    manufacturer: 'Dell Inc.',
    model: 'PowerEdge R640',
    serialNumber: 'ABC',
    sku: 'DEF',
    biosVersion: '2.1',
    memoryGiB: 96.5,
    powerState: 'On',
    powerStateText: 'On',
    health: { level: 'OK', causes: [] },
    indicatorLED: 'Lit',
    bootOrder: ['a', 'b'],
    override: { enabled: 'Once', target: 'Pxe', mode: 'UEFI', targets: ['None', 'Pxe'], httpBootUri: undefined },
    resetTypes: ['On'],
    etag: 'W/"7"',
  });
});

test('null, empty texts and wrong types count as absent', async () => {
  const fields = [
    'UUID',
    'Manufacturer',
    'Model',
    'SerialNumber',
    'PowerState',
    'IndicatorLED',
    'Boot',
    'Actions',
    'Status',
    'MemorySummary',
    'Storage',
  ];
  for (const value of [null, '', 17, [], {}, [null], 'x'.repeat(3)]) {
    const state = await readState(Object.fromEntries(fields.map((field) => [field, value])));
    assert.equal(state.powerState, 'Unknown');
    assert.equal(state.bootOrder, undefined);
    assert.equal(state.memoryGiB, undefined);
  }
});

for (const uuid of [
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  '03000200-0400-0500-0006-000700080009',
  ' ',
]) {
  test(`"${uuid}" does not count as a UUID: many machines report it`, async () => {
    assert.equal((await readState({ UUID: uuid })).uuid, undefined);
  });
}

const powerTexts: Record<string, string> = {
  On: 'On',
  OFF: 'Off',
  poweringOn: 'PoweringOn',
  'Powering Off': 'PoweringOff',
  Paused: 'Paused',
  'Chassis Power is on fire': 'Unknown',
  '': 'Unknown',
};
for (const [text, state] of Object.entries(powerTexts)) {
  test(`power state "${text}" is ${state}`, () => assert.equal(powerStateOf(text), state));
}

test('an unknown power state keeps the text of the BMC', async () => {
  const state = await readState({ PowerState: 'Standby' });
  assert.deepEqual([state.powerState, state.powerStateText], ['Unknown', 'Standby']);
});

test('the manufacturer comes from the systems, and a failed read is an error instead of a default', async () => {
  await using stub = await StubBmc.start();
  stub.set(uri, { Manufacturer: 'HPE' });
  await using bmc = openStubClient(stub);
  stub.intercept = ({ path }, response) => {
    if (path === uri) response.writeHead(500).end();
    return path === uri;
  };
  await assert.rejects(readSystems(bmc), { code: 'HttpError' });
  assert.equal(bmc.manufacturer, undefined);
  stub.intercept = () => false;
  await readSystems(bmc);
  assert.equal(bmc.manufacturer, 'HPE');
  assert.deepEqual(bmc.traits.rejectedInSubscription, ['DeliveryRetryPolicy']);
});

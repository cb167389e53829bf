import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStubClient, StubBmc } from '../../test/stub-bmc.ts';
import { inventory, openUpdateFixture } from '../../test/update-fixture.ts';
import { readFirmwareInventory } from './firmware-inventory.ts';

test('a component is read with all its properties', async () => {
  await using fixture = await openUpdateFixture();
  fixture.stub.collection(inventory, {
    NIC1: {
      Name: ' NIC ',
      Version: '22.5.7',
      Manufacturer: 'Intel',
      Updateable: true,
      SoftwareId: '8086:159b',
      RelatedItem: [{ '@odata.id': 'https://bmc.internal/redfish/v1/Chassis/1' }, null, 7],
    },
  });
  assert.deepEqual(await readFirmwareInventory(fixture.bmc), [
    {
      id: 'NIC1',
      uri: `${inventory}/NIC1`,
      name: 'NIC',
      version: '22.5.7',
      manufacturer: 'Intel',
      updateable: true,
      isStaged: false,
      isCopy: false,
      softwareId: '8086:159b',
      relatedItems: ['/redfish/v1/Chassis/1'],
      kind: undefined,
    },
  ]);
});

test('unusable members are left out and reported, and absent devices are left out', async () => {
  await using fixture = await openUpdateFixture();
  fixture.stub.collection(inventory, { B: { Version: 7 }, A: {}, Absent: { Status: { State: 'Absent' } } });
  const unreadable: string[] = [];
  fixture.stub.set(inventory, {
    Members: [{}, 7, ...['B', 'A', 'Missing', 'Absent'].map((id) => ({ '@odata.id': `${inventory}/${id}` }))],
  });
  const found = await readFirmwareInventory(fixture.bmc, { onUnreadable: ({ path }) => unreadable.push(path) });
  assert.deepEqual(
    found.map(({ id, version }) => [id, version]),
    [
      ['A', undefined],
      ['B', undefined],
    ],
  );
  assert.deepEqual(unreadable, [`${inventory}#/Members[0]`, `${inventory}#/Members[1]`, `${inventory}/Missing`]);
});

test('a BMC without an inventory has no components', async () => {
  await using fixture = await openUpdateFixture();
  assert.deepEqual(await readFirmwareInventory(fixture.bmc), []);
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub);
  assert.deepEqual(await readFirmwareInventory(bmc), []);
});

const kinds: [id: string, resource: { Name?: string; Staged?: boolean; RelatedItem?: object[] }, kind: string][] = [
  ['BIOS', {}, 'BIOS'],
  ['Installed-159-1.3.2__BIOS.Setup.1-1', { Name: 'BIOS' }, 'BIOS'],
  ['Installed-25227-7.0__iDRAC.Embedded.1-1', { Name: 'Integrated Dell Remote Access Controller' }, 'BMC'],
  ['Previous-159-1.2.0__BIOS.Setup.1-1', { Name: 'BIOS' }, 'copy'],
  ['Available-159-1.5.0__BIOS.Setup.1-1', { Name: 'BIOS', Staged: true }, 'BIOS staged'],
  ['1', { Name: 'iLO 6' }, 'BMC'],
  ['2', { Name: 'System ROM' }, 'BIOS'],
  ['3', { Name: 'Redundant System ROM' }, 'copy'],
  ['BMC-Primary', { Name: 'Firmware:BMC-Primary' }, 'BMC'],
  ['BMC-Backup', { Name: 'Firmware:BMC-Backup' }, 'copy'],
  ['BMC-Primary-Pending', { Name: 'Firmware:BMC-Primary-Pending' }, 'BMC staged'],
  ['UEFI', { Name: 'Firmware:UEFI' }, 'BIOS'],
  ['Staged_BIOS', { Name: 'BIOS' }, 'BIOS staged'],
  ['Backup_BMC', { Name: 'BMC' }, 'copy'],
  ['7', { Name: 'Firmware', RelatedItem: [{ '@odata.id': '/redfish/v1/Systems/1/Bios' }] }, 'BIOS'],
  ['8', { Name: 'Power Supply', RelatedItem: [{ '@odata.id': '/redfish/v1/Systems/1' }] }, 'none'],
];
for (const [id, resource, expected] of kinds) {
  test(`${id} ${resource.Name ?? ''} is ${expected}`, async () => {
    await using fixture = await openUpdateFixture();
    fixture.stub.collection(inventory, { [id]: resource });
    const [component] = await readFirmwareInventory(fixture.bmc);
    const kind = component?.kind ?? (component?.isCopy === true ? 'copy' : 'none');
    assert.equal(`${kind}${component?.isStaged === true ? ' staged' : ''}`, expected);
  });
}

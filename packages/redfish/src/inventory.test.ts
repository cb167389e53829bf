import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { DeskBmc, json, talkTo } from '../test/desk-bmc.ts';
import { readInventory } from './inventory.ts';
import type { SystemState } from './systems.ts';

const uri = '/redfish/v1/Systems/1';
const at = (part: string) => ({ '@odata.id': `${uri}/${part}` });

function furnish(desk: DeskBmc): void {
  desk.set(uri, {
    Manufacturer: 'HPE',
    Processors: at('Processors'),
    Memory: at('Memory'),
    Storage: at('Storage'),
    SimpleStorage: at('SimpleStorage'),
    EthernetInterfaces: at('EthernetInterfaces'),
  });
  desk.collection(`${uri}/Processors`, {
    CPU1: { Model: 'X', TotalCores: 8, MaxSpeedMHz: 2_400.6 },
    CPU2: { Model: 'X' },
  });
  desk.collection(`${uri}/Memory`, { DIMM1: { CapacityMiB: 32_768 } });
  desk.collection(`${uri}/EthernetInterfaces`, { NIC1: { MACAddress: '02:00:00:00:00:AA' } });
  desk.collection(`${uri}/Storage`, {
    RAID: { Name: 'RAID', Drives: [at('Drives/0'), at('Drives/1')], Volumes: at('Storage/RAID/Volumes') },
  });
  desk.set(`${uri}/Drives/0`, { Name: 'Disk 0', CapacityBytes: 1_000, MediaType: 'SSD', Status: { State: 'Enabled' } });
  desk.set(`${uri}/Drives/1`, { Name: 'Disk 1', CapacityBytes: 2_000 });
  desk.collection(`${uri}/Storage/RAID/Volumes`, { V1: { Name: 'Volume 1', RAIDType: 'RAID1' } });
}

test('everything the BMC tells is read', async () => {
  await using desk = await DeskBmc.start();
  furnish(desk);
  await using bmc = talkTo(desk);
  const inventory = await readInventory(bmc, uri);
  assert.deepEqual(inventory.missing, []);
  assert.partialDeepStrictEqual(inventory, {
    system: { uri, manufacturer: 'HPE' },
    processors: [{ id: 'CPU1', model: 'X', totalCores: 8, maxSpeedMHz: 2_401 }, { id: 'CPU2' }],
    networkInterfaces: [{ id: 'NIC1', macAddress: '02:00:00:00:00:aa' }],
    storages: [
      {
        name: 'RAID',
        drives: [{ name: 'Disk 0', capacityBytes: 1_000, mediaType: 'SSD', state: 'Enabled' }, { name: 'Disk 1' }],
        volumes: [{ name: 'Volume 1', raidType: 'RAID1' }],
      },
    ],
  });
  assert.equal(bmc.manufacturer, 'HPE');
});

/** Expands as deep as it is asked to, over everything that is no link in `Links`. */
function expandDeeply(desk: DeskBmc): void {
  const grow = (value: unknown, levels: number): unknown => {
    if (Array.isArray(value)) return value.map((entry) => grow(entry, levels));
    return value instanceof Object ? growObject(value, levels) : value;
  };
  const growObject = (value: object, levels: number): object => {
    const path: unknown = Reflect.get(value, '@odata.id');
    const isLink = Object.keys(value).length === 1 && typeof path === 'string';
    if (isLink) return levels === 0 ? value : growObject(desk.resources.get(path) ?? {}, levels - 1);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, grow(part, levels)]));
  };
  desk.intercept = ({ path }, response) => {
    const [plain = '', query] = path.split('?');
    const levels = Number(/\$levels=(\d)/.exec(query ?? '')?.[1] ?? 1);
    if (query === undefined) return false;
    json(response, 200, growObject(desk.resources.get(plain) ?? {}, levels));
    return true;
  };
}

for (const [MaxLevels, requests] of [
  [6, 4],
  [1, 6],
] as const) {
  test(`a BMC that expands ${MaxLevels} levels is asked ${requests} times`, async () => {
    await using desk = await DeskBmc.start({ expand: { NoLinks: true, Levels: true, MaxLevels } });
    furnish(desk);
    await using bmc = talkTo(desk);
    await bmc.get(uri, z.unknown());
    expandDeeply(desk);
    const before = desk.seen.length;
    const inventory = await readInventory(bmc, uri);
    assert.deepEqual(inventory.missing, []);
    assert.equal(inventory.storages[0]?.drives.length, 2);
    assert.equal(inventory.storages[0]?.volumes.length, 1);
    assert.equal(inventory.processors.length, 2);
    assert.equal(desk.seen.length - before, requests, desk.log.slice(before).join('\n'));
  });
}

test('what cannot be read is named, the rest is told', async () => {
  await using desk = await DeskBmc.start();
  furnish(desk);
  const broken: Record<string, number> = {
    Processors: 501,
    Memory: 404,
    SimpleStorage: 404,
    Storage: 500,
    EthernetInterfaces: 503,
  };
  desk.intercept = ({ path }, response) => {
    const status = broken[path.slice(uri.length + 1)];
    if (status !== undefined) json(response, status, {});
    return status !== undefined;
  };
  await using bmc = talkTo(desk);
  const { missing, networkInterfaces, storages, system } = await readInventory(bmc, uri);
  assert.deepEqual(missing.map(({ part }) => part).toSorted(), [
    'network interfaces',
    'processors',
    'simple storage',
    'storage',
  ]);
  for (const { reason } of missing) assert.match(reason, /with (501|404|500|503)/);
  assert.deepEqual([networkInterfaces, storages], [[], []]);
  assert.equal(system.manufacturer, 'HPE');
});

test('a drive that cannot be read hides the drives of its controller only', async () => {
  await using desk = await DeskBmc.start();
  furnish(desk);
  desk.resources.delete(`${uri}/Drives/1`);
  await using bmc = talkTo(desk);
  const { missing, storages } = await readInventory(bmc, uri);
  assert.deepEqual(
    missing.map(({ part }) => part),
    ['drives of RAID'],
  );
  assert.equal(storages[0]?.volumes.length, 1);
});

test('older BMCs tell their disks as simple storage', async () => {
  await using desk = await DeskBmc.start();
  desk.set(uri, { Storage: at('Storage'), SimpleStorage: at('SimpleStorage') });
  desk.collection(`${uri}/Storage`, {});
  desk.collection(`${uri}/SimpleStorage`, { '1': { Name: 'AHCI', Devices: [{ Name: 'sda', CapacityBytes: 5 }] } });
  await using bmc = talkTo(desk);
  const { storages } = await readInventory(bmc, uri);
  assert.partialDeepStrictEqual(storages, [{ name: 'AHCI', drives: [{ name: 'sda', capacityBytes: 5 }] }]);
});

test('a BMC that stops answering is not a machine without disks, and what it told of the machine before is told', async () => {
  await using desk = await DeskBmc.start();
  furnish(desk);
  desk.intercept = ({ path }) => path === `${uri}/Storage`;
  await using bmc = talkTo(desk);
  const told: (string | undefined)[] = [];
  const onSystem = ({ manufacturer }: SystemState) => told.push(manufacturer);
  await assert.rejects(readInventory(bmc, uri, { deadlineMs: 50, onSystem }), { code: 'TimedOut' });
  assert.deepEqual(told, ['HPE']);
});

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import * as z from 'zod';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import { type Inventory, readInventory } from './inventory.ts';
import type { SystemState } from './systems.ts';

const uri = '/redfish/v1/Systems/1';
const at = (part: string) => ({ '@odata.id': `${uri}/${part}` });

function populate(stub: StubBmc): void {
  stub.set(uri, {
    Manufacturer: 'HPE',
    Processors: at('Processors'),
    MemorySummary: { TotalSystemMemoryGiB: 32 },
    Memory: at('Memory'),
    Storage: at('Storage'),
    SimpleStorage: at('SimpleStorage'),
    EthernetInterfaces: at('EthernetInterfaces'),
  });
  stub.collection(`${uri}/Processors`, {
    CPU1: { Model: 'X', TotalCores: 8, MaxSpeedMHz: 2_400.6 },
    CPU2: { Model: 'X' },
  });
  stub.collection(`${uri}/Memory`, { DIMM1: { CapacityMiB: 32_768 } });
  stub.collection(`${uri}/EthernetInterfaces`, { NIC1: { MACAddress: '02:00:00:00:00:AA' } });
  stub.collection(`${uri}/Storage`, {
    RAID: { Name: 'RAID', Drives: [at('Drives/0'), at('Drives/1')], Volumes: at('Storage/RAID/Volumes') },
  });
  stub.set(`${uri}/Drives/0`, { Name: 'Disk 0', CapacityBytes: 1_000, MediaType: 'SSD', Status: { State: 'Enabled' } });
  stub.set(`${uri}/Drives/1`, { Name: 'Disk 1', CapacityBytes: 2_000 });
  stub.collection(`${uri}/Storage/RAID/Volumes`, { V1: { Name: 'Volume 1', RAIDType: 'RAID1' } });
}

test('the whole hardware of a system is read', async () => {
  await using stub = await StubBmc.start();
  populate(stub);
  await using bmc = openStubClient(stub);
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

/** Expands to the requested level, every link outside of `Links`. */
function expandDeeply(stub: StubBmc): void {
  const expandValue = (value: unknown, levels: number): unknown => {
    if (Array.isArray(value)) return value.map((entry) => expandValue(entry, levels));
    return value instanceof Object ? expandObject(value, levels) : value;
  };
  const expandObject = (value: object, levels: number): object => {
    const path: unknown = Reflect.get(value, '@odata.id');
    const isLink = Object.keys(value).length === 1 && typeof path === 'string';
    if (isLink) return levels === 0 ? value : expandObject(stub.resources.get(path) ?? {}, levels - 1);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, expandValue(part, levels)]));
  };
  stub.intercept = ({ path }, response) => {
    const [plain = '', query] = path.split('?');
    const levels = Number(/\$levels=(\d)/.exec(query ?? '')?.[1] ?? 1);
    if (query === undefined) return false;
    json(response, 200, expandObject(stub.resources.get(plain) ?? {}, levels));
    return true;
  };
}

for (const [MaxLevels, requests] of [
  [6, 4],
  [1, 6],
] as const) {
  test(`an inventory takes ${requests} requests when the BMC expands ${MaxLevels} levels`, async () => {
    await using stub = await StubBmc.start({ expand: { NoLinks: true, Levels: true, MaxLevels } });
    populate(stub);
    await using bmc = openStubClient(stub);
    await bmc.get(uri, z.unknown());
    expandDeeply(stub);
    const before = stub.received.length;
    const inventory = await readInventory(bmc, uri);
    assert.deepEqual(inventory.missing, []);
    assert.equal(inventory.storages[0]?.drives.length, 2);
    assert.equal(inventory.storages[0]?.volumes.length, 1);
    assert.equal(inventory.processors.length, 2);
    assert.equal(stub.received.length - before, requests, stub.log.slice(before).join('\n'));
  });
}

test('unreadable parts are listed as missing, and the others are read', async () => {
  await using stub = await StubBmc.start();
  populate(stub);
  const broken: Record<string, number> = {
    Processors: 501,
    Memory: 404,
    SimpleStorage: 404,
    Storage: 500,
    EthernetInterfaces: 503,
  };
  stub.intercept = ({ path }, response) => {
    const status = broken[path.slice(uri.length + 1)];
    if (status !== undefined) json(response, status, {});
    return status !== undefined;
  };
  await using bmc = openStubClient(stub);
  const { missing, networkInterfaces, storages, system } = await readInventory(bmc, uri);
  assert.deepEqual(missing.map(({ part }) => part).toSorted(), ['network interfaces', 'processors', 'storage']);
  assert.equal(stub.count(`GET ${uri}/SimpleStorage`), 0, 'the same disks under other names');
  for (const { reason } of missing) assert.match(reason, /with (501|404|500|503)/);
  assert.deepEqual([networkInterfaces, storages], [[], []]);
  assert.equal(system.manufacturer, 'HPE');
});

/** One unreadable member of each collection, and the names of the others. */
const members: [member: string, part: string, namesLeft: (inventory: Inventory) => unknown, expected: unknown][] = [
  ['Processors/CPU1', 'processors', ({ processors }) => processors.map(({ id }) => id), ['CPU2']],
  [
    'EthernetInterfaces/NIC1',
    'network interfaces',
    ({ networkInterfaces: nics }) => nics.map(({ id }) => id),
    ['NIC2'],
  ],
  ['Storage/RAID', 'storage', ({ storages }) => storages.map(({ name }) => name), ['NVMe']],
  ['Drives/1', 'drives of RAID', ({ storages }) => storages[0]?.drives.map(({ name }) => name), ['Disk 0']],
  [
    'Storage/RAID/Volumes/V1',
    'volumes of RAID',
    ({ storages }) => storages[0]?.volumes.map(({ name }) => name),
    ['V2'],
  ],
];
const corruptions: Record<string, (response: ServerResponse) => void> = {
  '404': (response) => json(response, 404, {}),
  '500': (response) => json(response, 500, {}),
  '501': (response) => json(response, 501, {}),
  'no JSON': (response) => void response.end('<html>'),
  'no resource': (response) => json(response, 200, []),
};

for (const [member, part, namesLeft, expected] of members) {
  for (const [name, corrupt] of Object.entries(corruptions)) {
    for (const expand of [undefined, { NoLinks: true, Levels: true, MaxLevels: 3 }]) {
      const title = `${member} that answers ${name} does not hide the others${expand ? ', with $expand' : ''}`;
      test(title, async () => {
        await using stub = await StubBmc.start(expand === undefined ? {} : { expand });
        populate(stub);
        stub.collection(`${uri}/EthernetInterfaces`, { NIC1: {}, NIC2: {} });
        stub.collection(`${uri}/Storage`, {
          RAID: { Name: 'RAID', Drives: [at('Drives/0'), at('Drives/1')], Volumes: at('Storage/RAID/Volumes') },
          NVMe: { Name: 'NVMe' },
        });
        stub.collection(`${uri}/Storage/RAID/Volumes`, { V1: { Name: 'V1' }, V2: { Name: 'V2' } });
        // An expanded request with this member fails, as on many BMCs.
        const isCorrupt = (path: string) => path === `${uri}/${member}`;
        stub.intercept = ({ path }, response) => {
          const [plain = '', query] = path.split('?');
          if (query !== undefined) json(response, 500, {});
          else if (isCorrupt(plain)) corrupt(response);
          return query !== undefined || isCorrupt(plain);
        };
        await using bmc = openStubClient(stub);
        const inventory = await readInventory(bmc, uri);
        assert.deepEqual(namesLeft(inventory), expected);
        assert.partialDeepStrictEqual(inventory.missing, [{ part, path: `${uri}/${member}`, isMember: true }]);
        assert.equal(inventory.missing.length, 1);
        assert.match(inventory.missing[0]?.reason ?? '', new RegExp(`${uri}/${member}`));
      });
    }
  }
}

test('processors that are all unreadable are missing as a whole', async () => {
  await using stub = await StubBmc.start();
  populate(stub);
  for (const id of ['CPU1', 'CPU2']) stub.resources.delete(`${uri}/Processors/${id}`);
  await using bmc = openStubClient(stub);
  const { missing } = await readInventory(bmc, uri);
  assert.partialDeepStrictEqual(missing, [{ part: 'processors', path: `${uri}/Processors`, isMember: false }]);
});

test('a BMC that becomes busy during a collection makes the whole part missing', async () => {
  await using stub = await StubBmc.start();
  populate(stub);
  stub.intercept = ({ path }, response) => {
    if (path === `${uri}/Processors/CPU1`) json(response, 503, {});
    return path === `${uri}/Processors/CPU1`;
  };
  await using bmc = openStubClient(stub);
  const { missing, processors } = await readInventory(bmc, uri);
  assert.deepEqual(processors, []);
  assert.partialDeepStrictEqual(missing, [{ part: 'processors', isMember: false }]);
});

test('drives above the limit of a machine are not read', async () => {
  await using stub = await StubBmc.start();
  populate(stub);
  const Drives = Array.from({ length: 10_001 }, (_, index) => at(`Drives/n${index}`));
  stub.set(`${uri}/Storage/RAID`, { Name: 'RAID', Drives });
  await using bmc = openStubClient(stub);
  const { missing } = await readInventory(bmc, uri);
  assert.match(missing[0]?.reason ?? '', /Storage\/RAID: expected at most 10000 drives and volumes .*, found 10001/);
  assert.ok(!stub.log.some((line) => line.includes('Drives/n')));
});

test('the disks of SimpleStorage are read when the linked Storage does not exist', async () => {
  await using stub = await StubBmc.start();
  stub.set(uri, { Storage: at('Storage'), SimpleStorage: at('SimpleStorage') });
  stub.collection(`${uri}/SimpleStorage`, { '1': { Name: 'AHCI', Devices: [null, { Name: 'sda' }] } });
  await using bmc = openStubClient(stub);
  const { storages, missing } = await readInventory(bmc, uri);
  assert.partialDeepStrictEqual(storages, [{ name: 'AHCI', drives: [{ name: 'sda' }] }]);
  assert.deepEqual(missing, []);
});

test('the disks of older BMCs are read from SimpleStorage', async () => {
  await using stub = await StubBmc.start();
  stub.set(uri, { Storage: at('Storage'), SimpleStorage: at('SimpleStorage') });
  stub.collection(`${uri}/Storage`, {});
  stub.collection(`${uri}/SimpleStorage`, { '1': { Name: 'AHCI', Devices: [{ Name: 'sda', CapacityBytes: 5 }] } });
  await using bmc = openStubClient(stub);
  const { storages } = await readInventory(bmc, uri);
  assert.partialDeepStrictEqual(storages, [{ name: 'AHCI', drives: [{ name: 'sda', capacityBytes: 5 }] }]);
});

test('a BMC that stops answering fails the inventory, after onSystem was called', async () => {
  await using stub = await StubBmc.start();
  populate(stub);
  stub.intercept = ({ path }) => path === `${uri}/Storage`;
  await using bmc = openStubClient(stub);
  const manufacturers: (string | undefined)[] = [];
  const onSystem = ({ manufacturer }: SystemState) => manufacturers.push(manufacturer);
  await assert.rejects(readInventory(bmc, uri, { deadlineMs: 50, onSystem }), { code: 'TimedOut' });
  assert.deepEqual(manufacturers, ['HPE']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import type { Bmc } from '../http/bmc.ts';
import { readInventory } from './inventory.ts';
import { findManager } from './managers.ts';
import { readSystem, readSystems } from './systems.ts';
import { readUnhealthyParts } from './unhealthy-parts.ts';

const root = '/redfish/v1';
const systems = `${root}/Systems`;
const uri = `${systems}/1`;
const at = (path: string) => ({ '@odata.id': path });
const under = (part: string) => at(`${uri}/${part}`);
const Actions = { '#ComputerSystem.Reset': { target: `${uri}/Actions/ComputerSystem.Reset` } };

async function withStub(prepare: (stub: StubBmc) => void, use: (bmc: Bmc, stub: StubBmc) => Promise<void>) {
  await using stub = await StubBmc.start();
  prepare(stub);
  await using bmc = openStubClient(stub);
  await use(bmc, stub);
}

/** A service root without links, as an enclosure manager has it. */
const hideCollections = (stub: StubBmc): void => {
  stub.intercept = ({ path }, response) => {
    if (path === `${root}/`) json(response, 200, at(path));
    return path === `${root}/`;
  };
};

test('a BMC whose service root names no systems and no managers has none, and no path is guessed', () =>
  withStub(hideCollections, async (bmc, stub) => {
    assert.deepEqual([await readSystems(bmc), await findManager(bmc)], [[], undefined]);
    assert.deepEqual(stub.log, [`GET ${root}/`]);
  }));

test('systems that share a serial number and have no UUID get different ones', () =>
  withStub(
    (stub) => {
      const blade = { Manufacturer: 'HPE', SerialNumber: 'BLADE1', Actions };
      stub.collection(systems, { Node0: blade, Node1: blade, Node2: { ...blade, SerialNumber: 'OTHER' } });
    },
    async (bmc) => {
      const found = await readSystems(bmc);
      assert.equal(new Set(found.map(({ uuid }) => uuid)).size, 3);
      assert.deepEqual(
        found.map(({ uuidDerivedFrom }) => uuidDerivedFrom),
        [
          'manufacturer, serial number and system URI',
          'manufacturer, serial number and system URI',
          'manufacturer and serial number',
        ],
      );
      const [first] = found;
      const expectedUuid = first?.uuid;
      assert.equal((await readSystem(bmc, `${systems}/Node0`, { expectedUuid })).uri, first?.uri);
      await assert.rejects(readSystem(bmc, `${systems}/Node1`, { expectedUuid }), { code: 'IdentityMismatch' });
    },
  ));

test('a serial number may be shared with an unreadable system', () =>
  withStub(
    (stub) => {
      const blade = { Manufacturer: 'HPE', SerialNumber: 'BLADE1', Actions };
      stub.collection(systems, { Node0: blade, Node1: blade });
      stub.resources.delete(`${systems}/Node1`);
    },
    async (bmc, stub) => {
      const [alone] = await readSystems(bmc);
      stub.set(`${systems}/Node1`, { Manufacturer: 'HPE', SerialNumber: 'BLADE1', Actions });
      assert.equal((await readSystems(bmc))[0]?.uuid, alone?.uuid);
    },
  ));

const kinds: [title: string, resource: object, because: string | undefined][] = [
  ['a physical system', { SystemType: 'Physical', Actions }, undefined],
  ['a virtual system', { SystemType: 'Virtual', Actions }, undefined],
  ['a system without a type', { Actions }, undefined],
  ['a partition of a system', { SystemType: 'PhysicallyPartitioned', Actions }, undefined],
  ['a virtual partition', { SystemType: 'VirtuallyPartitioned', Actions }, undefined],
  ['a composed system', { SystemType: 'Composed', Actions }, undefined],
  ['an operating system', { SystemType: 'OS', Actions }, 'its SystemType is OS'],
  ['a DPU', { SystemType: 'DPU', Actions }, 'its SystemType is DPU'],
  ['a GPU baseboard', { SystemType: 'Physical' }, 'it offers no reset'],
];
for (const [title, resource, because] of kinds) {
  test(`${title} is ${because === undefined ? 'a' : 'no'} machine`, () =>
    withStub(
      (stub) => stub.collection(systems, { '1': resource }),
      async (bmc) => assert.equal((await readSystems(bmc))[0]?.noMachineBecause, because),
    ));
}

test('network interfaces have valid addresses, each once, and unique names; those to the BMC are left out', () => {
  const Name = 'Ethernet Interface';
  const nics = {
    Vlan: { Name, MACAddress: '02:00:00:00:00:01', VLAN: { VLANEnable: true, VLANId: 7 } },
    A: { Name, MACAddress: '02-00-00-00-00-01' },
    B: { Name, PermanentMACAddress: 'Not Available', MACAddress: '0200.0000.0002' },
    C: { Name, MACAddress: '00:00:00:00:00:00' },
    D: { Name, MACAddress: '02:00:00:00:00:0D', Status: { State: 'Absent' } },
    E: { Name: 'Port', MACAddress: '02:00:00:00:00:0E' },
    ToManager: { Name, MACAddress: '02:00:00:00:00:0F' },
    F: { MACAddress: '02:00:00:00:00:0A', Links: { HostInterface: at(`${root}/Managers/1/HostInterfaces/1`) } },
  };
  return withStub(
    (stub) => {
      stub.set(uri, { EthernetInterfaces: under('EthernetInterfaces') });
      stub.collection(`${uri}/EthernetInterfaces`, nics);
    },
    async (bmc) => {
      const { networkInterfaces } = await readInventory(bmc, uri);
      assert.deepEqual(
        networkInterfaces.map(({ name, macAddress }) => [name, macAddress]),
        [
          ['A', '02:00:00:00:00:01'],
          ['B', '02:00:00:00:00:02'],
          ['C', undefined],
          ['Port', '02:00:00:00:00:0e'],
        ],
      );
    },
  );
});

/** Two cards with two functions each, of which one is absent. */
function addCards(stub: StubBmc, path: string): void {
  stub.collection(path, {
    Slot1: { NetworkDeviceFunctions: at(`${path}/Slot1/NetworkDeviceFunctions`) },
    Slot2: { NetworkDeviceFunctions: at(`${path}/Slot2/NetworkDeviceFunctions`) },
  });
  for (const slot of [1, 2])
    stub.collection(`${path}/Slot${slot}/NetworkDeviceFunctions`, {
      0: { Name: 'Function', Ethernet: { PermanentMACAddress: `02:00:00:00:0${slot}:00` } },
      1: { Name: 'Function', Status: { State: 'Absent' }, Ethernet: { MACAddress: `02:00:00:00:0${slot}:01` } },
    });
}

const chassis = `${root}/Chassis/1`;
const ownChassis = { Links: { Chassis: [at(chassis)] } };
const places: [of: string, system: object, cards: string, machines: number, expected: number][] = [
  ['the system', { NetworkInterfaces: under('NetworkInterfaces') }, `${uri}/NetworkInterfaces`, 1, 2],
  ['its chassis', ownChassis, `${chassis}/NetworkAdapters`, 1, 2],
  ['a chassis of several systems', ownChassis, `${chassis}/NetworkAdapters`, 2, 0],
];
for (const [of, resource, cards, machines, expected] of places) {
  test(`${expected} interfaces are read from the network cards of ${of} when EthernetInterfaces have no addresses`, () =>
    withStub(
      (stub) => {
        stub.set(uri, { EthernetInterfaces: under('EthernetInterfaces'), ...resource });
        stub.collection(`${uri}/EthernetInterfaces`, {});
        const ComputerSystems = Array.from({ length: machines }, (_, index) => at(`${systems}/${index + 1}`));
        stub.set(chassis, { NetworkAdapters: at(`${chassis}/NetworkAdapters`), Links: { ComputerSystems } });
        addCards(stub, cards);
      },
      async (bmc) => {
        const { networkInterfaces, missing } = await readInventory(bmc, uri);
        assert.deepEqual(missing, []);
        const addresses = networkInterfaces.map(({ macAddress }) => macAddress);
        assert.deepEqual(addresses, ['02:00:00:00:01:00', '02:00:00:00:02:00'].slice(0, expected));
        assert.equal(new Set(networkInterfaces.map(({ name }) => name)).size, expected);
      },
    ));
}

const absent = { Status: { State: 'Absent' } };

test('absent processors, controllers, drives and volumes are left out', () =>
  withStub(
    (stub) => {
      const [Processors, Storage] = [under('Processors'), under('Storage')];
      stub.set(uri, { Processors, Storage });
      stub.collection(`${uri}/Processors`, { CPU1: { Model: 'X' }, CPU2: absent });
      const Drives = [under('Drives/0'), under('Drives/1')];
      stub.collection(`${uri}/Storage`, { '0': { Drives, Volumes: under('Volumes') }, '1': absent });
      stub.set(`${uri}/Drives/0`, { Name: 'Disk' });
      stub.set(`${uri}/Drives/1`, { Name: 'Bay', ...absent });
      stub.collection(`${uri}/Volumes`, { '0': { Name: 'OS' }, '1': absent });
    },
    async (bmc) => {
      const { processors, storages } = await readInventory(bmc, uri);
      assert.deepEqual(
        processors.map(({ id }) => id),
        ['CPU1'],
      );
      assert.equal(storages.length, 1);
      assert.partialDeepStrictEqual(storages, [{ drives: [{ name: 'Disk' }], volumes: [{ name: 'OS' }] }]);
      assert.deepEqual([storages[0]?.drives.length, storages[0]?.volumes.length], [1, 1]);
    },
  ));

test('absent devices of SimpleStorage are left out', () =>
  withStub(
    (stub) => {
      stub.set(uri, { SimpleStorage: under('SimpleStorage') });
      stub.collection(`${uri}/SimpleStorage`, { '1': { Devices: [{ Name: 'sda' }, { Name: 'Bay 2', ...absent }] } });
    },
    async (bmc) => assert.equal((await readInventory(bmc, uri)).storages[0]?.drives.length, 1),
  ));

test('a drive is read once, however often and by however many controllers it is linked', () =>
  withStub(
    (stub) => {
      stub.set(uri, { Storage: under('Storage') });
      const Drives = Array.from({ length: 32 }, () => under('Drives/0'));
      stub.collection(`${uri}/Storage`, { '0': { Drives }, '1': { Drives } });
      stub.set(`${uri}/Drives/0`, { Name: 'Disk' });
    },
    async (bmc, stub) => {
      const { storages } = await readInventory(bmc, uri);
      assert.deepEqual(
        storages.map(({ drives }) => drives.length),
        [1, 1],
      );
      assert.equal(stub.count(`GET ${uri}/Drives/0`), 1);
    },
  ));

test('controllers with the same name are named by their Id, also where their drives are missing', () =>
  withStub(
    (stub) => {
      stub.set(uri, { Storage: under('Storage') });
      const Name = 'Storage Controller';
      const unit = { Name, Drives: [under('Drives/0'), under('Drives/1')] };
      stub.collection(`${uri}/Storage`, { A: unit, B: { Name }, C: { Name: 'NVMe' } });
      stub.set(`${uri}/Drives/0`, { Name: 'Disk' });
    },
    async (bmc) => {
      const { storages, missing } = await readInventory(bmc, uri);
      assert.deepEqual(
        storages.map(({ name }) => name),
        ['A', 'B', 'NVMe'],
      );
      assert.equal(missing[0]?.part, 'drives of A');
    },
  ));

for (const [title, MemorySummary] of [
  ['no MemorySummary', undefined],
  ['a MemorySummary of 0', { TotalSystemMemoryGiB: 0 }],
] as const) {
  test(`with ${title} the memory is the sum of the modules`, () =>
    withStub(
      (stub) => {
        stub.set(uri, { MemorySummary, Memory: under('Memory') });
        stub.collection(`${uri}/Memory`, {
          '1': { CapacityMiB: 16_384 },
          '2': { CapacityMiB: 16_384, MemoryType: 'DRAM' },
          '3': { CapacityMiB: 16_384, ...absent },
          '4': { CapacityMiB: 16_384, MemoryType: 'NVDIMM_N' },
        });
      },
      async (bmc) => assert.equal((await readInventory(bmc, uri)).system.memoryGiB, 32),
    ));
}

test('memory modules are not read when the system has the sum', () =>
  withStub(
    (stub) => {
      stub.set(uri, { MemorySummary: { TotalSystemMemoryGiB: 64 }, Memory: under('Memory') });
      stub.collection(`${uri}/Memory`, { '1': { CapacityMiB: 16_384 } });
    },
    async (bmc, stub) => {
      assert.equal((await readInventory(bmc, uri)).system.memoryGiB, 64);
      assert.equal(stub.count(`GET ${uri}/Memory`), 0);
    },
  ));

test('health is that of the rollup, or of the system without one', () =>
  withStub(
    () => undefined,
    async (bmc, stub) => {
      const healthOf = async (Status: object | null | undefined) => {
        stub.set(uri, { Status });
        return (await readSystem(bmc, uri)).health.level;
      };
      assert.equal(await healthOf({ Health: 'OK', HealthRollup: 'Critical' }), 'Critical');
      assert.equal(await healthOf({ Health: 'Warning', HealthRollup: null }), 'Warning');
      assert.equal(await healthOf({ Health: 'OK' }), 'OK');
      for (const none of [undefined, null, {}, { Health: null }, { Health: 'Fine' }])
        assert.equal(await healthOf(none), undefined);
    },
  ));

const bad = (Health: string, more: object = {}) => ({ Status: { State: 'Enabled', Health }, ...more });

test('the unhealthy parts of a machine are read from its chassis, storage, memory and processors, worst first', () =>
  withStub(
    (stub) => {
      stub.set(uri, {
        ...bad('Critical'),
        Links: { Chassis: [at(chassis)] },
        Storage: under('Storage'),
        Memory: under('Memory'),
        Processors: under('Processors'),
        ProcessorSummary: { Status: { HealthRollup: 'OK' } },
      });
      stub.set(chassis, { Power: at(`${chassis}/Power`), ThermalSubsystem: at(`${chassis}/ThermalSubsystem`) });
      stub.set(`${chassis}/Power`, {
        PowerSupplies: [bad('Critical', { Name: 'PSU 2' }), bad('OK', { Name: 'PSU 1' })],
      });
      stub.set(`${chassis}/ThermalSubsystem`, { Fans: at(`${chassis}/ThermalSubsystem/Fans`) });
      stub.collection(`${chassis}/ThermalSubsystem/Fans`, { Fan4: bad('Warning') });
      stub.collection(`${uri}/Storage`, {
        A: bad('Warning', { Name: 'RAID', Drives: [under('Drives/0'), under('Drives/1')] }),
        B: bad('OK', { Drives: [under('Drives/2')] }),
      });
      stub.set(`${uri}/Drives/0`, bad('Warning', { Name: 'Disk 0' }));
      stub.set(`${uri}/Drives/1`, bad('OK', { Name: 'Disk 1' }));
      stub.collection(`${uri}/Memory`, { DIMM1: bad('OK'), DIMM2: bad('Critical') });
    },
    async (bmc, stub) => {
      const parts = [
        { name: 'PSU 2', health: 'Critical' },
        { name: 'DIMM2', health: 'Critical' },
        { name: 'Fan4', health: 'Warning' },
        { name: 'Disk 0', health: 'Warning' },
      ];
      assert.deepEqual(await readUnhealthyParts(bmc, uri), { parts, isComplete: true });
      assert.equal(stub.count(`GET ${uri}/Processors`), 0, 'the summary says OK');
      assert.equal(stub.count(`GET ${uri}/Drives/2`), 0, 'its controller is OK');
    },
  ));

test('causes that the system lists itself need no further request', () =>
  withStub(
    (stub) => {
      const Conditions = [{ Severity: 'Critical', OriginOfCondition: at(`${chassis}/Power/PSU2`), Message: 'failed' }];
      stub.set(uri, { Status: { HealthRollup: 'Critical', Conditions }, Memory: under('Memory') });
    },
    async (bmc, stub) => {
      const parts = [{ name: 'PSU2', health: 'Critical' }];
      assert.deepEqual(await readUnhealthyParts(bmc, uri), { parts, isComplete: true });
      assert.equal(stub.count(`GET ${uri}/Memory`), 0);
    },
  ));

test('at most 24 requests are sent for the parts, and unreadable ones are left out', () =>
  withStub(
    (stub) => {
      stub.set(uri, { ...bad('Critical'), Storage: under('Storage'), Memory: under('Memory') });
      const modules = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`D${index}`, bad('Critical')]));
      stub.collection(`${uri}/Memory`, modules);
      stub.resources.delete(`${uri}/Memory/D0`);
    },
    async (bmc, stub) => {
      await readSystem(bmc, uri);
      const before = stub.received.length;
      const { parts } = await readUnhealthyParts(bmc, uri);
      assert.equal(stub.received.length - before, 24);
      assert.equal(parts[0]?.name, 'D1');
    },
  ));

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Inventory } from '@metal/redfish/inventory.ts';
import type { SystemState } from '@metal/redfish/systems.ts';
import { SystemMemory } from '../../observations.ts';
import { hardwareFields, hardwareToTell, networkInterfacesOfBmc } from './hardware.ts';
import { calmServer } from './phases.rows.ts';

const at = 1_000;
const drive = { name: 'Disk 0', capacityBytes: 2 ** 40, mediaType: 'SSD', type: undefined, vendor: 'Fabrikam' };
const processor = { id: 'CPU1', type: 'CPU', architecture: 'x86', instructionSet: undefined, manufacturer: 'Contoso' };
const card = { id: 'NIC1', name: undefined, macAddress: '02:00:00:00:00:01', speedMbps: 1_000 };
const hardware: Inventory = {
  // Of the system only this is told.
  system: { manufacturer: 'Contoso', model: 'X1', memoryGiB: 64 } as SystemState,
  processors: [{ ...processor, model: 'Y', maxSpeedMHz: 2_400, totalCores: 8, totalThreads: 16 }],
  storages: [{ name: 'RAID', drives: [{ ...drive, model: 'Z', state: 'Enabled' }], volumes: [] }],
  networkInterfaces: [card],
  missing: [],
};

const serverWith = (status?: Server['status']): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 'one', uid: 'one' },
  spec: { systemUUID: 'a' },
  ...(status === undefined ? {} : { status }),
});

/** The server as it comes back after what is said of it was written. */
function told(server: Server, read: Inventory): Server {
  const facts = { ...calmServer, hardware: read };
  const status = {
    state: 'Initial',
    ...hardwareFields(server, facts),
    networkInterfaces: server.status?.networkInterfaces ?? networkInterfacesOfBmc(facts),
  };
  return serverWith(JSON.parse(JSON.stringify(status)) as Server['status']);
}

function memoryOf(value: Inventory): SystemMemory {
  const memory = new SystemMemory();
  memory.inventory = { value, at };
  return memory;
}

test('hardware is remembered until the status says it, and after that when it was read', () => {
  const memory = memoryOf(hardware);
  assert.equal(hardwareToTell(serverWith(), memory), hardware);
  assert.equal(hardwareToTell(serverWith({ state: 'Initial', manufacturer: 'Contoso' }), memory), hardware);
  const server = told(serverWith(), hardware);
  assert.equal(hardwareToTell(server, memory), undefined);
  assert.deepEqual(memory.inventory, { at });
  assert.deepEqual(told(server, hardware).status, server.status, 'what is reported stays the same');
  assert.equal(server.status?.storages?.[0]?.drives?.[0]?.capacity, '1Ti');
});

test('cards that the status does not know of are remembered', () => {
  const memory = memoryOf(hardware);
  const { networkInterfaces: _none, ...status } = told(serverWith(), hardware).status ?? {};
  assert.equal(hardwareToTell(serverWith(status), memory), hardware);
  const reported = [{ name: 'eth0', macAddress: '02:00:00:00:00:02' }];
  assert.equal(hardwareToTell(serverWith({ ...status, networkInterfaces: reported }), memory), undefined);
});

test('hardware that has changed is told, also what is no longer there', () => {
  const server = told(serverWith(), hardware);
  const [unit] = hardware.storages;
  assert.ok(unit);
  const others: Inventory[] = [
    { ...hardware, storages: [{ ...unit, drives: [] }] },
    { ...hardware, processors: [] },
    { ...hardware, system: { manufacturer: 'Contoso', memoryGiB: 64 } as SystemState },
  ];
  for (const other of others) {
    const memory = memoryOf(other);
    assert.equal(hardwareToTell(server, memory), other);
    assert.equal(hardwareToTell(told(server, other), memory), undefined);
  }
});

test('a BMC that tells nothing of the machine has told that', () => {
  const nothing: Inventory = {
    ...hardware,
    system: {} as SystemState,
    processors: [],
    storages: [],
    networkInterfaces: [],
  };
  const memory = memoryOf(nothing);
  const server = told(serverWith(), nothing);
  assert.equal(hardwareToTell(server, memory), undefined);
  assert.deepEqual(server.status?.processors, [], 'by which it is known to have been read');
});

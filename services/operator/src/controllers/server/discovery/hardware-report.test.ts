import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Inventory, MissingPart } from '@metal/redfish/resources/inventory.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { hardwareFields, networkInterfacesBefore } from './hardware-report.ts';
import { inventoryCondition } from '../../inventory-condition.ts';
import { unreportedHardware } from './hardware-facts.ts';
import { calmServer } from '../table.rows.ts';

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
function withReported(server: Server, read: Inventory): Server {
  const facts = { ...calmServer, hardware: read };
  const status = {
    state: 'Initial',
    ...hardwareFields(server, facts),
    networkInterfaces: networkInterfacesBefore(server, facts),
    conditions: inventoryCondition(server, read.missing),
  };
  return serverWith(JSON.parse(JSON.stringify(status)) as Server['status']);
}

function memoryOf(value: Inventory): ObservedSystem {
  const memory = new ObservedSystem();
  memory.inventory = { value, at };
  return memory;
}

test('hardware is remembered until the status says it, and after that when it was read', () => {
  const memory = memoryOf(hardware);
  assert.equal(unreportedHardware(serverWith(), memory), hardware);
  assert.equal(unreportedHardware(serverWith({ state: 'Initial', manufacturer: 'Contoso' }), memory), hardware);
  const server = withReported(serverWith(), hardware);
  assert.equal(unreportedHardware(server, memory), undefined);
  assert.deepEqual(memory.inventory, { at });
  assert.deepEqual(withReported(server, hardware).status, server.status, 'what is reported stays the same');
  assert.equal(server.status?.storages?.[0]?.drives?.[0]?.capacity, '1Ti');
});

test('cards that the status does not know of are remembered', () => {
  const memory = memoryOf(hardware);
  const { networkInterfaces: _none, ...status } = withReported(serverWith(), hardware).status ?? {};
  assert.equal(unreportedHardware(serverWith(status), memory), hardware);
  const reported = [{ name: 'eth0', macAddress: '02:00:00:00:00:02' }];
  assert.equal(unreportedHardware(serverWith({ ...status, networkInterfaces: reported }), memory), undefined);
});

test('hardware that has changed is told, also what is no longer there', () => {
  const server = withReported(serverWith(), hardware);
  const [unit] = hardware.storages;
  assert.ok(unit);
  const others: Inventory[] = [
    { ...hardware, storages: [{ ...unit, drives: [] }] },
    { ...hardware, processors: [] },
    { ...hardware, system: { manufacturer: 'Contoso', memoryGiB: 64 } as SystemState },
  ];
  for (const other of others) {
    const memory = memoryOf(other);
    assert.equal(unreportedHardware(server, memory), other);
    assert.equal(unreportedHardware(withReported(server, other), memory), undefined);
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
  const server = withReported(serverWith(), nothing);
  assert.equal(unreportedHardware(server, memory), undefined);
  assert.deepEqual(server.status?.processors, [], 'by which it is known to have been read');
});

const member = (part: string, path: string): MissingPart => ({
  part,
  path,
  isMember: true,
  code: 'HttpError',
  status: 500,
  reason: 'broken',
});
const whole = (part: string, path: string): MissingPart => ({ ...member(part, path), isMember: false });
const drives = (...names: string[]) => names.map((name) => ({ ...drive, name, model: 'Z', state: 'Enabled' }));
const unit = (name: string, ...disks: string[]) => ({ name, drives: drives(...disks), volumes: [] });
const cpus = (...ids: string[]) => hardware.processors.flatMap((one) => ids.map((id) => ({ ...one, id })));
const full: Inventory = {
  ...hardware,
  processors: cpus('1', '2', '3'),
  storages: [unit('A', 'a0', 'a1'), unit('B', 'b0', 'b1')],
};
const namesIn = ({ status }: Server) => ({
  processors: status?.processors?.map(({ id }) => id).join(),
  storages: status?.storages?.map(({ name, drives: disks }) => `${name}: ${disks?.map((disk) => disk.name).join()}`),
});
const all = { processors: '1,2,3', storages: ['A: a0,a1', 'B: b0,b1'] };

const unread: [what: string, read: Partial<Inventory>, expected: ReturnType<typeof namesIn>][] = [
  ['one processor', { processors: cpus('1', '3'), missing: [member('processors', '/2')] }, all],
  ['all processors', { processors: [], missing: [whole('processors', '/')] }, all],
  ['a controller', { storages: [unit('B', 'b0', 'b1')], missing: [member('storage', '/A')] }, all],
  ['all controllers', { storages: [], missing: [whole('storage', '/')] }, all],
  ['the simple storage', { storages: [], missing: [whole('simple storage', '/')] }, all],
  ['a drive', { storages: [unit('A', 'a1'), unit('B', 'b0', 'b1')], missing: [member('drives of A', '/A/0')] }, all],
  [
    'the drives of one controller, while one of another was pulled,',
    { storages: [unit('A'), unit('B', 'b1')], missing: [whole('drives of A', '/A')] },
    { ...all, storages: ['A: a0,a1', 'B: b1'] },
  ],
  [
    'one of two drives, while the other was exchanged,',
    { storages: [unit('A', 'new'), unit('B', 'b0', 'b1')], missing: [member('drives of A', '/A/1')] },
    { ...all, storages: ['A: a0,new', 'B: b0,b1'] },
  ],
];
for (const [what, read, expected] of unread) {
  test(`${what} that cannot be read: the rest is told, and what is missing stays as it was`, () => {
    const before = withReported(serverWith(), full);
    assert.deepEqual(namesIn(before), all);
    const value = { ...full, ...read };
    const memory = memoryOf(value);
    assert.equal(unreportedHardware(before, memory), value, 'that something is missing is not said yet');
    const after = withReported(before, value);
    assert.deepEqual(namesIn(after), expected);
    assert.equal(after.status?.conditions?.[0]?.status, 'False');
    assert.equal(unreportedHardware(after, memory), undefined, 'now it is');
    assert.deepEqual(withReported(after, value).status, after.status, 'and stays the same');
    assert.deepEqual(namesIn(withReported(after, full)), all);
  });
}

test('what could never be read is not told, and comes with the first reading that has it', () => {
  const missing = [member('processors', '/2'), member('network interfaces', '/nic2')];
  const first = withReported(serverWith(), { ...full, processors: cpus('1', '3'), missing });
  assert.equal(namesIn(first).processors, '1,3');
  const nic = { ...card, id: 'NIC2', macAddress: '02:00:00:00:00:02' };
  const second = withReported(first, { ...full, networkInterfaces: [card, nic] });
  assert.equal(namesIn(second).processors, '1,2,3');
  assert.deepEqual(
    second.status?.networkInterfaces?.map(({ name }) => name),
    ['NIC1', 'NIC2'],
  );
  assert.partialDeepStrictEqual(second.status?.conditions, [{ type: 'InventoryComplete', status: 'True' }]);
});

test('a fraction of memory is told as it is', () => {
  const of = (memoryGiB: number) => withReported(serverWith(), { ...hardware, system: { memoryGiB } as SystemState });
  assert.deepEqual(
    [of(31.5), of(64)].map(({ status }) => status?.totalSystemMemory),
    ['32256Mi', '64Gi'],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Inventory, MissingPart } from '@metal/redfish/resources/inventory.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { inventoryCondition } from '../../inventory-condition.ts';
import { forgetReportedHardware } from '../memory.ts';
import { calmServer } from '../../../../test/server/table.rows.ts';
import { hardwareFacts } from './hardware-facts.ts';
import { hardwareFields } from './report.ts';

const at = 1_000;
const drive = { name: 'Disk 0', capacityBytes: 2 ** 40, mediaType: 'SSD', type: undefined, vendor: 'Fabrikam' };
const processor = { id: 'CPU1', type: 'CPU', architecture: 'x86', instructionSet: undefined, manufacturer: 'Contoso' };
const card = { id: 'NIC1', name: undefined, macAddress: '02:00:00:00:00:01', speedMbps: 1_000 };
const hardware: Inventory = {
  // The other properties of the system are not used here.
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

/** The server after its status was written. */
function withReported(server: Server, read: Inventory): Server {
  const facts = { ...calmServer, hardware: read };
  const status = {
    state: 'Initial',
    ...hardwareFields(server, facts),
    conditions: inventoryCondition(server, read.missing),
  };
  return serverWith(JSON.parse(JSON.stringify(status)) as Server['status']);
}

function memoryOf(value: Inventory): ObservedSystem {
  const memory = new ObservedSystem();
  memory.inventory = { value, at };
  return memory;
}

function unreportedHardware(server: Server, memory: ObservedSystem): Inventory | undefined {
  forgetReportedHardware(server, memory, undefined);
  return hardwareFacts(server, memory, at).hardware;
}

test('hardware is kept in memory until the status holds it; the time of reading stays', () => {
  const memory = memoryOf(hardware);
  assert.equal(unreportedHardware(serverWith(), memory), hardware);
  assert.equal(unreportedHardware(serverWith({ state: 'Initial', manufacturer: 'Contoso' }), memory), hardware);
  const server = withReported(serverWith(), hardware);
  assert.equal(unreportedHardware(server, memory), undefined);
  assert.deepEqual(memory.inventory, { at });
  assert.deepEqual(withReported(server, hardware).status, server.status, 'another report changes nothing');
  assert.equal(server.status?.storages?.[0]?.drives?.[0]?.capacity, '1Ti');
});

test('a bay or volume without CapacityBytes has capacity "0", as in v0.7.0', () => {
  const [unit] = hardware.storages;
  assert.ok(unit);
  const empty = { name: 'Bay 3', state: 'Absent', capacityBytes: undefined };
  const bay = { ...drive, ...empty };
  const volume = { raidType: undefined, ...empty };
  const storages = [{ ...unit, drives: [bay], volumes: [volume] }] as unknown as Inventory['storages']; // only these properties are reported
  const reported = withReported(serverWith(), { ...hardware, storages }).status?.storages?.[0];
  assert.deepEqual([reported?.drives?.[0]?.capacity, reported?.volumes?.[0]?.capacity], ['0', '0']);
});

test('network interfaces are kept in memory until the status lists interfaces', () => {
  const memory = memoryOf(hardware);
  const { networkInterfaces: _none, ...status } = withReported(serverWith(), hardware).status ?? {};
  assert.equal(unreportedHardware(serverWith(status), memory), hardware);
  const reported = [{ name: 'eth0', macAddress: '02:00:00:00:00:02' }];
  assert.equal(unreportedHardware(serverWith({ ...status, networkInterfaces: reported }), memory), undefined);
});

test('changed hardware is reported, also removed parts', () => {
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

test('an empty inventory is reported as empty', () => {
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
  assert.deepEqual(server.status?.processors, [], 'the empty list records that it was read');
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
  test(`${what} that cannot be read stays as reported before, and the rest is updated`, () => {
    const before = withReported(serverWith(), full);
    assert.deepEqual(namesIn(before), all);
    const value = { ...full, ...read };
    const memory = memoryOf(value);
    assert.equal(unreportedHardware(before, memory), value, 'the condition does not report the missing part yet');
    const after = withReported(before, value);
    assert.deepEqual(namesIn(after), expected);
    assert.equal(after.status?.conditions?.[0]?.status, 'False');
    assert.equal(unreportedHardware(after, memory), undefined, 'the condition reports it');
    assert.deepEqual(withReported(after, value).status, after.status, 'another report changes nothing');
    assert.deepEqual(namesIn(withReported(after, full)), all);
  });
}

test('a part that was never read is absent until the first successful reading', () => {
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

test('a fraction of a GiB of memory is reported exactly', () => {
  const of = (memoryGiB: number) => withReported(serverWith(), { ...hardware, system: { memoryGiB } as SystemState });
  assert.deepEqual(
    [of(31.5), of(64)].map(({ status }) => status?.totalSystemMemory),
    ['32256Mi', '64Gi'],
  );
});

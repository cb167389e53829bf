import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Inventory } from '@metal/redfish/resources/inventory.ts';
import { compareHardware } from './comparison.ts';
import { partsOf } from './parts.ts';

const before = [
  'CPU CPU1: Intel',
  'DIMM A1: one',
  'DIMM A2: two',
  'drive NVMe/Bay 1: x',
  'NIC eth0: 02:00:00:00:00:01',
];
const server = (record: NonNullable<Server['status']>['maintenance'], spec: Partial<Server['spec']> = {}): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 'one' },
  spec: { systemUUID: 'a', ...spec },
  status: { state: 'Maintenance', maintenance: record },
});
const beforeBut = (index: number, part?: string): string[] =>
  part === undefined ? before.toSpliced(index, 1) : before.toSpliced(index, 1, part);
const remedy = '; repair it, or accept the machine as it is';

const lines: [title: string, after: readonly string[] | undefined, expected: object][] = [
  ['the same parts', [...before], { kind: 'unchanged' }],
  ['parts that were not read', undefined, { kind: 'unknown' }],
  ['another module in a slot', beforeBut(1, 'DIMM A1: three'), { kind: 'changed', difference: 'DIMM A1' }],
  ['a module in another slot', beforeBut(1, 'DIMM B1: one'), { kind: 'changed', difference: 'DIMM B1' }],
  ['another address', beforeBut(4, 'NIC eth0: 02:00:00:00:00:02'), { kind: 'changed', difference: 'NIC eth0' }],
  ['an additional module', [...before, 'DIMM A3: three'], { kind: 'changed', difference: 'DIMM A3' }],
  ['a module fewer', beforeBut(2), { kind: 'worse', message: `DIMM A2 is gone since the maintenance${remedy}` }],
  [
    'a drive fewer and another module',
    beforeBut(1, 'DIMM A1: three').toSpliced(3, 1),
    { kind: 'worse', message: `drive NVMe/Bay 1 is gone since the maintenance${remedy}` },
  ],
  [
    'two modules fewer',
    beforeBut(1).toSpliced(1, 1),
    { kind: 'worse', message: `DIMM A1, DIMM A2 are gone since the maintenance${remedy}` },
  ],
];
for (const [title, after, expected] of lines)
  test(`a free server with ${title} after a maintenance: ${Reflect.get(expected, 'kind')}`, () =>
    assert.deepEqual(compareHardware(server({ parts: before }), after, undefined), expected));

test('a new critical fault is worse, and names the part', () => {
  const health = { level: 'Critical', parts: [{ name: 'Fan 3', health: 'Critical' }] } as const;
  const expected = { kind: 'worse', message: `the BMC reports Critical (Fan 3) since the maintenance${remedy}` };
  assert.deepEqual(compareHardware(server({ parts: before, health: 'OK' }), before, health), expected);
  assert.deepEqual(compareHardware(server({ parts: before, health: 'Critical' }), before, health), {
    kind: 'unchanged',
  });
});

test('the server of a claim is not compared', () => {
  const claimed = server({ parts: before }, { serverClaimRef: { namespace: 'team', name: 'one' } });
  assert.equal(compareHardware(claimed, beforeBut(1), undefined), undefined);
});

test('parts are told apart by place, and not given where the BMC could not read all', () => {
  const drive = { name: 'NVMe SSD', vendor: 'Acme', model: 'X', serialNumber: undefined, capacityBytes: 10 };
  // Only these members are read.
  const inventory = {
    system: { serialNumber: 'S1' },
    processors: [{ id: 'CPU1', manufacturer: 'Intel', model: 'Gold', serialNumber: undefined }],
    storages: [{ name: 'NVMe', drives: [drive, drive], volumes: [] }],
    networkInterfaces: [{ id: 'NIC.1', name: 'eth0', macAddress: '02:00:00:00:00:01' }],
    memoryModules: [{ id: 'DIMM1', manufacturer: 'Acme', partNumber: 'P', serialNumber: '7' }],
    missing: [],
  } as unknown as Inventory;
  assert.deepEqual(partsOf(inventory), [
    'CPU CPU1: Intel Gold',
    'DIMM DIMM1: Acme P 7',
    'NIC NIC.1: 02:00:00:00:00:01',
    'drive NVMe/NVMe SSD: Acme X 10',
    'drive NVMe/NVMe SSD #2: Acme X 10',
    'system serial number: S1',
  ]);
  const missing = [{ part: 'memory' }] as unknown as Inventory['missing'];
  assert.equal(partsOf({ ...inventory, missing }), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BmcObservation } from './observed-bmc.ts';
import { SystemReporters } from './system-reporters.ts';

const observation = (...uuids: readonly string[]): BmcObservation => ({
  at: 0,
  manager: undefined,
  // Only the UUIDs matter.
  systems: uuids.map((uuid) => ({ uuid }) as BmcObservation['systems'][number]),
});

test('the BMCs that report a system are found by its UUID, in any letter case', () => {
  const reporters = new SystemReporters();
  reporters.record('right', observation('A1', 'B2'));
  reporters.record('left', observation('a1'));
  assert.deepEqual([reporters.of('A1'), reporters.of('b2'), reporters.of('c3')], [['left', 'right'], ['right'], []]);
});

test('earlier reports of a BMC and reports of a deleted BMC do not count', () => {
  const reporters = new SystemReporters();
  reporters.record('right', observation('a1', 'b2'));
  reporters.record('right', observation('b2'));
  reporters.record('left', observation('b2'));
  reporters.forget('left');
  assert.deepEqual([reporters.of('a1'), reporters.of('b2')], [[], ['right']]);
});

test('a BMC that derived the UUID as the alternative one reports the system at its URI only', () => {
  const reporters = new SystemReporters();
  const withNode = (uuid: string, alternativeUuid: string): BmcObservation => ({
    ...observation(),
    // Only these fields matter.
    systems: [{ uri: '/1', uuid, alternativeUuid } as BmcObservation['systems'][number]],
  });
  reporters.record('left', withNode('serial', 'place-1'));
  reporters.record('right', withNode('place-1', 'serial'));
  for (const uuid of ['serial', 'Place-1']) assert.deepEqual(reporters.of(uuid, '/1'), ['left', 'right']);
  assert.deepEqual([reporters.of('serial', '/2'), reporters.of('serial')], [['left'], ['left']]);
  reporters.forget('right');
  assert.deepEqual(reporters.of('serial', '/1'), ['left']);
});

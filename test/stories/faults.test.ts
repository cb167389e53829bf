import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noFaults, type UpdateFaults } from '@metal/simulator/faults.ts';
import { faultEntries } from '../fixtures/fault-entries.ts';
import { maxConcurrentCells, oneCellPerFault, surviveAll } from '../fixtures/fault-survival.ts';

/** No machine of these tests is updated: the stories about firmware have these faults. */
const ofUpdates: Readonly<Record<keyof UpdateFaults, true>> = {
  rejectsUpdates: true,
  downloadFails: true,
  checksumFails: true,
  updateStuck: true,
  updateTaskVanishes: true,
  versionUnchanged: true,
  silentAfterUpdateMs: true,
  powerLostWhileFlashing: true,
};

test('every fault of the simulator has an entry with expectations', () => {
  const expected = Object.keys(noFaults).filter((name) => !(name in ofUpdates));
  assert.deepEqual(Object.keys(faultEntries).toSorted(), expected.toSorted());
});

test('every fault is reported in time, and its machine continues after it', { concurrency: maxConcurrentCells }, (t) =>
  surviveAll(t, oneCellPerFault),
);

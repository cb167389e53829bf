import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noFaults } from '@metal/simulator/faults.ts';
import { faultEntries } from './fault-entries.ts';
import { maxConcurrentCells, oneCellPerFault, surviveAll } from './fault-survival.ts';

test('every fault of the simulator has an entry with expectations', () => {
  assert.deepEqual(Object.keys(faultEntries).toSorted(), Object.keys(noFaults).toSorted());
});

test('every fault is reported in time, and its machine continues after it', { concurrency: maxConcurrentCells }, (t) =>
  surviveAll(t, oneCellPerFault),
);

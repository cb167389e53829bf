import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnershipIntervals, takeoverFrom } from './ownership-intervals.ts';

type Row = readonly [at: number, bmc: string, pid: number, event: 'arrived' | 'answered'];

function ownershipIntervalsOf(
  rows: readonly Row[],
  isAlive: (pid: number, at: number) => boolean = () => true,
): OwnershipIntervals {
  const ownershipIntervals = new OwnershipIntervals(isAlive);
  for (const [at, bmc, pid, event] of rows) ownershipIntervals.record({ at, bmc, pid, event });
  return ownershipIntervals;
}

test('consecutive requests of one process to a BMC are one ownership interval', () => {
  const ownershipIntervals = ownershipIntervalsOf([
    [1, 'a', 10, 'arrived'],
    [2, 'a', 10, 'answered'],
    [3, 'a', 10, 'arrived'],
    [4, 'a', 10, 'answered'],
    [5, 'a', 20, 'arrived'],
  ]);
  assert.deepEqual(ownershipIntervals.at('a'), [
    { pid: 10, since: 1, until: 3 },
    { pid: 20, since: 5, until: 5 },
  ]);
  assert.deepEqual([ownershipIntervals.ownerOf('a'), ownershipIntervals.ownerOf('b')], [20, undefined]);
  assert.deepEqual(ownershipIntervals.breaches, []);
});

test('a request that arrives while another process waits for a response of the same BMC is a violation', () => {
  const ownershipIntervals = ownershipIntervalsOf([
    [1, 'a', 10, 'arrived'],
    [2, 'b', 20, 'arrived'],
    [3, 'a', 10, 'arrived'],
    [4, 'a', 10, 'answered'],
    [5, 'a', 20, 'arrived'],
  ]);
  assert.deepEqual([...ownershipIntervals.shared], ['a']);
  assert.deepEqual(ownershipIntervals.breaches, ['a: 20 sends a request while 10 waits for a response']);
});

test('an ended process waits for no response', () => {
  const rows: Row[] = [
    [1, 'a', 10, 'arrived'],
    [5, 'a', 20, 'arrived'],
  ];
  assert.deepEqual([...ownershipIntervalsOf(rows, (pid, at) => pid !== 10 || at < 5).shared], []);
  assert.deepEqual([...ownershipIntervalsOf(rows, (pid, at) => pid !== 10 || at < 6).shared], ['a']);
});

test('a takeover time runs from the end of the last owner to the first request of the next one', () => {
  const ownershipIntervals = ownershipIntervalsOf([
    [1, 'taken', 10, 'arrived'],
    [1, 'left', 10, 'arrived'],
    [1, 'released before', 10, 'arrived'],
    [2, 'released before', 20, 'arrived'],
    [3, 'of another', 20, 'arrived'],
    // Sent before its end, and read after it.
    [101, 'taken', 10, 'arrived'],
    [600, 'taken', 20, 'arrived'],
    [700, 'taken', 30, 'arrived'],
    [800, 'of another', 30, 'arrived'],
  ]);
  const { afterMs, abandoned } = takeoverFrom(ownershipIntervals, 10, 100);
  assert.deepEqual([...afterMs], [['taken', 500]]);
  assert.deepEqual(abandoned, ['left']);
});

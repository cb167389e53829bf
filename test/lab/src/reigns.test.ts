import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Reigns, takeoverFrom } from './reigns.ts';

type Row = readonly [at: number, bmc: string, pid: number, moment: 'arrived' | 'answered'];

function reignsOf(rows: readonly Row[], isAlive: (pid: number, at: number) => boolean = () => true): Reigns {
  const reigns = new Reigns(isAlive);
  for (const [at, bmc, pid, moment] of rows) reigns.hear({ at, bmc, pid, moment });
  return reigns;
}

test('requests of one process without anybody between them are one reign', () => {
  const reigns = reignsOf([
    [1, 'a', 10, 'arrived'],
    [2, 'a', 10, 'answered'],
    [3, 'a', 10, 'arrived'],
    [4, 'a', 10, 'answered'],
    [5, 'a', 20, 'arrived'],
  ]);
  assert.deepEqual(reigns.at('a'), [
    { pid: 10, since: 1, until: 3 },
    { pid: 20, since: 5, until: 5 },
  ]);
  assert.deepEqual([reigns.ownerOf('a'), reigns.ownerOf('b')], [20, undefined]);
  assert.deepEqual(reigns.breaches, []);
});

test('a request that arrives while another process waits for an answer of the same BMC breaks the promise', () => {
  const reigns = reignsOf([
    [1, 'a', 10, 'arrived'],
    [2, 'b', 20, 'arrived'],
    [3, 'a', 10, 'arrived'],
    [4, 'a', 10, 'answered'],
    [5, 'a', 20, 'arrived'],
  ]);
  assert.deepEqual([...reigns.shared], ['a']);
  assert.deepEqual(reigns.breaches, ['a: 20 asks while 10 does']);
});

test('who has ended waits for no answer', () => {
  const rows: Row[] = [
    [1, 'a', 10, 'arrived'],
    [5, 'a', 20, 'arrived'],
  ];
  assert.deepEqual([...reignsOf(rows, (pid, at) => pid !== 10 || at < 5).shared], []);
  assert.deepEqual([...reignsOf(rows, (pid, at) => pid !== 10 || at < 6).shared], ['a']);
});

test('a BMC is left alone from the end of the last who talked to it until another one does', () => {
  const reigns = reignsOf([
    [1, 'taken', 10, 'arrived'],
    [1, 'left', 10, 'arrived'],
    [1, 'given away before', 10, 'arrived'],
    [2, 'given away before', 20, 'arrived'],
    [3, 'of another', 20, 'arrived'],
    // Sent before its end, and read after it.
    [101, 'taken', 10, 'arrived'],
    [600, 'taken', 20, 'arrived'],
    [700, 'taken', 30, 'arrived'],
    [800, 'of another', 30, 'arrived'],
  ]);
  const { afterMs, left } = takeoverFrom(reigns, 10, 100);
  assert.deepEqual([...afterMs], [['taken', 500]]);
  assert.deepEqual(left, ['left']);
});

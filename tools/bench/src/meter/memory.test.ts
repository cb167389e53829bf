import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthPercentOf } from './memory.ts';

const samples = (of: (index: number) => number): number[] => Array.from({ length: 400 }, (_, index) => of(index));

test('memory that rises in the first half and varies afterwards does not grow', () => {
  const sawtooth = (index: number) => (index < 200 ? 50 + index / 4 : 100 + (index % 37));
  assert.ok(Math.abs(growthPercentOf(samples(sawtooth)) ?? 100) < 1);
});

test('a leak is found below garbage of the same size', () => {
  const growth = growthPercentOf(samples((index) => 50 + (index % 37) + index * 0.2)) ?? 0;
  assert.ok(growth > 10 && growth < 20, `${growth}`);
});

test('memory that shrinks has negative growth', () =>
  assert.equal(growthPercentOf(samples((index) => (index < 300 ? 200 : 100))), -50));

test('the growth over a short time is undefined', () => assert.equal(growthPercentOf([1, 2, 3, 4]), undefined));

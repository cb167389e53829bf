import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthPercentOf } from './memory.ts';

const samples = (of: (index: number) => number): number[] => Array.from({ length: 400 }, (_, index) => of(index));

test('memory that goes up for half of the time, and up and down after, does not grow', () => {
  const sawtooth = (index: number) => (index < 200 ? 50 + index / 4 : 100 + (index % 37));
  assert.ok(Math.abs(growthPercentOf(samples(sawtooth)) ?? 100) < 1);
});

test('memory that is leaked shows below garbage that is as much', () => {
  const growth = growthPercentOf(samples((index) => 50 + (index % 37) + index * 0.2)) ?? 0;
  assert.ok(growth > 10 && growth < 20, `${growth}`);
});

test('memory that is given back has grown by less than nothing', () =>
  assert.equal(growthPercentOf(samples((index) => (index < 300 ? 200 : 100))), -50));

test('of a moment nothing is said', () => assert.equal(growthPercentOf([1, 2, 3, 4]), undefined));

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SortedNames } from './sorted-names.ts';

const namesOf = (...put: readonly string[]): SortedNames => {
  const names = new SortedNames();
  for (const name of put) names.put(name, true);
  return names;
};

test('names are in natural order, whatever order they are added in', () => {
  assert.deepEqual([...namesOf('b-10', 'a', 'b-9', 'b-1', 'c')], ['a', 'b-1', 'b-9', 'b-10', 'c']);
});

test('a name is known from its addition to its removal', () => {
  const names = namesOf('a', 'b');
  names.put('b', false);
  assert.deepEqual([names.has('a'), names.has('b'), names.has('c')], [true, false, false]);
  names.clear();
  assert.equal(names.has('a'), false);
});

test('put is idempotent', () => {
  const names = namesOf('a', 'b', 'a');
  names.put('b', false);
  names.put('b', false);
  assert.deepEqual([[...names], names.size], [['a'], 1]);
});

test('names that differ only in leading zeros are two names', () => {
  const names = namesOf('a-01', 'a-1', 'a-001');
  names.put('a-1', false);
  assert.deepEqual([...names].toSorted(), ['a-001', 'a-01']);
});

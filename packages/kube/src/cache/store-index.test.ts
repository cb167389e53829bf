import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreIndex } from './store-index.ts';

const openIndex = () => {
  const index = new StoreIndex<readonly string[]>((values) => values);
  return { index, under: (value: string) => [...index.keysUnder(value)].toSorted() };
};

test('a value has no key, one, or many, as objects are added and removed', () => {
  const { index, under } = openIndex();
  assert.deepEqual(under('red'), []);
  index.refile('first', undefined, ['red']);
  index.refile('first', ['red'], ['red']);
  assert.deepEqual(under('red'), ['first']);
  for (const key of ['second', 'third']) index.refile(key, undefined, ['red']);
  assert.deepEqual(under('red'), ['first', 'second', 'third']);
  for (const key of ['first', 'third']) index.refile(key, ['red'], undefined);
  assert.deepEqual(under('red'), ['second']);
  index.refile('fourth', undefined, ['red']);
  assert.deepEqual(under('red'), ['fourth', 'second']);
  for (const key of ['second', 'fourth']) index.refile(key, ['red'], undefined);
  assert.deepEqual(under('red'), []);
  index.refile('first', undefined, ['red']);
  assert.deepEqual(under('red'), ['first']);
});

test('an object is indexed under each of its present values', () => {
  const { index, under } = openIndex();
  index.refile('one', undefined, ['red', 'round', 'red']);
  index.refile('other', undefined, ['round']);
  index.refile('one', ['red', 'round', 'red'], ['round', 'blue']);
  assert.deepEqual(
    ['red', 'round', 'blue'].map((value) => under(value)),
    [[], ['one', 'other'], ['one']],
  );
});

test('removing a key that is not in the index has no effect', () => {
  const { index, under } = openIndex();
  index.refile('one', undefined, ['red']);
  index.refile('other', ['red', 'blue'], undefined);
  assert.deepEqual([under('red'), under('blue')], [['one'], []]);
});

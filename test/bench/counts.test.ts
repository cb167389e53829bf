import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countsOf, ranked, since, total } from './counts.ts';

test('what was added since a moment leaves out what did not change', () => {
  const added = since(countsOf({ get: 3, patch: 1 }), countsOf({ get: 3, patch: 4, create: 2 }));
  assert.deepEqual(added, countsOf({ patch: 3, create: 2 }));
});

test('a total is of the names that are asked for', () => {
  const counts = countsOf({ 'get servers': 3, 'patch servers': 4, 'create events': 2 });
  assert.equal(total(counts), 9);
  assert.equal(
    total(counts, (name) => name.endsWith('servers')),
    7,
  );
});

test('the most frequent is the first, and names decide between equals', () =>
  assert.deepEqual(ranked(countsOf({ b: 1, c: 5, a: 1 })), [
    ['c', 5],
    ['a', 1],
    ['b', 1],
  ]));

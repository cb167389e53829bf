import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countsOf, ranked, since, total } from './counts.ts';

test('the difference to an earlier moment omits unchanged counts', () => {
  const added = since(countsOf({ get: 3, patch: 1 }), countsOf({ get: 3, patch: 4, create: 2 }));
  assert.deepEqual(added, countsOf({ patch: 3, create: 2 }));
});

test('a total includes the selected names', () => {
  const counts = countsOf({ 'get servers': 3, 'patch servers': 4, 'create events': 2 });
  assert.equal(total(counts), 9);
  assert.equal(
    total(counts, (name) => name.endsWith('servers')),
    7,
  );
});

test('counts are sorted by frequency, then by name', () =>
  assert.deepEqual(ranked(countsOf({ b: 1, c: 5, a: 1 })), [
    ['c', 5],
    ['a', 1],
    ['b', 1],
  ]));

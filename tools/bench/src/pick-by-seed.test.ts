import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickBySeed } from './pick-by-seed.ts';

const all = Array.from({ length: 20 }, (_, index) => ({ name: `node-${index}` }));

test('the same seed picks the same elements, another seed others', () => {
  assert.deepEqual(pickBySeed(all, 4, 'rain'), pickBySeed(all.toReversed(), 4, 'rain'));
  assert.notDeepEqual(pickBySeed(all, 4, 'rain'), pickBySeed(all, 4, 'hail'));
  assert.equal(new Set(pickBySeed(all, 4, 'rain')).size, 4);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constructorsIn } from './heap-snapshot.ts';

test('objects are summed by constructor, and all strings together', () => {
  const fields = ['type', 'name', 'id', 'self_size'];
  const snapshot = {
    meta: { node_fields: fields, node_types: [['object', 'string', 'concatenated string'], 'string'] },
  };
  const nodes = [0, 0, 1, 40, 1, 1, 3, 100, 0, 0, 5, 24, 2, 1, 7, 20];
  assert.deepEqual(constructorsIn(JSON.stringify({ snapshot, nodes, strings: ['Map', 'some text'] })), [
    { name: '(string)', count: 2, bytes: 120 },
    { name: 'Map', count: 2, bytes: 64 },
  ]);
});

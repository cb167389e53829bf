import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from './builtin.ts';
import { isNotFound } from './errors.ts';
import { pathOf } from './paths.ts';

test('a name is one segment of the path, whatever is in it', () => {
  assert.equal(pathOf(Secret, { namespace: 'a/b', name: '../c' }), '/api/v1/namespaces/a%2Fb/secrets/..%2Fc');
});

test('a name that no object can have is not found, and never the whole collection', () => {
  for (const name of ['', '.', '..']) assert.throws(() => pathOf(Secret, { namespace: 'a', name }), isNotFound);
  assert.throws(() => pathOf(Secret, { namespace: '..', name: 'c' }), isNotFound);
});

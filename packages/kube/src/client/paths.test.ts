import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '../kinds/builtin.ts';
import { isNotFound } from '../errors.ts';
import { pathOf } from './paths.ts';

test('a name is one encoded path segment', () => {
  assert.equal(pathOf(Secret, { namespace: 'ü', name: 'c?d' }), '/api/v1/namespaces/%C3%BC/secrets/c%3Fd');
});

test('a name that no object can have is NotFound, and never the whole collection or a subresource', () => {
  for (const name of ['', '.', '..', 'a/b', '../c', 'a%2Fb'])
    assert.throws(() => pathOf(Secret, { namespace: 'a', name }), isNotFound);
  assert.throws(() => pathOf(Secret, { namespace: '..', name: 'c' }), isNotFound);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaName } from './schema-name.ts';

test('schemas with the same content have the same name', () => {
  const [one, other] = [
    schemaName({ a: { attribute_type: 'Enumeration', allowable_values: ['x', 'y'] }, b: { read_only: true } }),
    schemaName({ b: { read_only: true }, a: { allowable_values: ['y', 'x'], attribute_type: 'Enumeration' } }),
  ];
  assert.equal(one, other);
  assert.match(one, /^schema-[0-9a-f]{8}$/);
});

test('schemas with another content have another name', () => {
  const names = [{}, { a: {} }, { a: { lower_bound: 1 } }, { b: { lower_bound: 1 }, a: {} }, { a: { upper_bound: 1 } }];
  assert.equal(new Set(names.map(schemaName)).size, names.length);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expand, expandJson, referencedNames } from './expansion.ts';
import { fieldAt } from './field-path.ts';

const values = new Map([
  ['A', 'one'],
  ['B', '$(A)$$'],
  ['Q', 'a"b\\c\n'],
  ['N', '7'],
]);

for (const [template, expected] of [
  ['$(A)-$(A)', 'one-one'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$one'],
  ['$(UNKNOWN)', '$(UNKNOWN)'],
  ['$(A', '$(A'],
  ['cost: 5$', 'cost: 5$'],
  ['$A', '$A'],
  ['$(B)', '$(A)$$'],
  ['', ''],
] as const)
  test(`"${template}" is expanded once, to "${expected}"`, () => assert.equal(expand(template, values), expected));

test('in JSON a value is escaped in a string and inserted as it is elsewhere', () => {
  const text = expandJson('{"Port": $(N), "Name\\"$(A)": "$(Q)", "Dollar": "$$(A)$(B)"}', values);
  assert.deepEqual(JSON.parse(text), { Port: 7, 'Name"one': 'a"b\\c\n', Dollar: '$(A)$(A)$$' });
});

test('names in a template are found, escaped ones are not', () => {
  assert.deepEqual(referencedNames('$(A) $$(B) $(C'), ['A']);
});

const object = {
  spec: { BMCRef: { name: 'bmc-1' }, count: 3 },
  metadata: { labels: { 'topology.kubernetes.io/region': 'r1', 'a.b': 'x' } },
};

for (const [path, expected] of [
  ['spec.BMCRef.name', 'bmc-1'],
  ['spec.bmcRef.name', undefined],
  ['metadata.labels[topology.kubernetes.io/region]', 'r1'],
  ['metadata.labels.[a.b]', 'x'],
  ['metadata.labels[a.b', undefined],
  ['spec.count', undefined],
  ['spec', undefined],
  ['', undefined],
  ['spec.constructor', undefined],
  ['[a]', undefined],
] as const)
  test(`the text at "${path}" is ${expected ?? 'none'}`, () => assert.equal(fieldAt(object, path), expected));

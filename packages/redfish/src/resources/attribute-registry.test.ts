import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attributesIn, registryBody, registryOf } from './attribute-registry.ts';
import { effectivelyReadOnly } from './attribute-dependencies.ts';
import type { AttributeValue } from './attributes.ts';

const registryWith = (RegistryEntries: unknown) => registryOf('R', registryBody.parse({ RegistryEntries }), '/r');

test('definitions of another shape are left out, and their optional parts may have any type', () => {
  const registry = registryWith({
    Attributes: [
      null,
      'text',
      { Type: 'String' },
      { AttributeName: 'NoType' },
      { AttributeName: 'OtherType', Type: 'Map' },
      { AttributeName: 'Odd', Type: 'Enumeration', Value: [{}, 7, { ValueName: 'A' }], ReadOnly: 'yes', Hidden: null },
      { AttributeName: 'Number', Type: 'Integer', LowerBound: null, UpperBound: '7', ResetRequired: 1 },
    ],
    Dependencies: 'none',
  });
  assert.deepEqual([...(registry?.definitions.keys() ?? [])], ['Odd', 'Number']);
  assert.deepEqual(registry?.definitions.get('Odd')?.values, [{ name: 'A', displayName: undefined }]);
  const { readOnly, lowerBound, upperBound, resetRequired } = registry.definitions.get('Number') ?? assert.fail();
  assert.deepEqual([readOnly, lowerBound, upperBound, resetRequired], [false, undefined, undefined, undefined]);
});

for (const [title, entries] of [
  ['without attributes', {}],
  ['of which no attribute is usable', { Attributes: [{}] }],
  ['that is no object', 'text'],
] as const) {
  test(`a registry ${title} is none`, () => assert.equal(registryWith(entries), undefined));
}

test('more attributes than any BMC has are an error', () => {
  const many = Array.from({ length: 50_001 }, () => 0);
  assert.throws(() => registryWith({ Attributes: many }), { code: 'BadAnswer', message: /at most 50000 attributes/ });
});

test('attributes with another value than a scalar are left out', () => {
  const found = attributesIn({ A: 1, B: null, C: { D: 1 }, E: [], 'F@Redfish.Note': 'x', G: true }, '/bios');
  assert.deepEqual(found, { A: 1, B: null, G: true });
  for (const value of [undefined, null, 'text', [1]]) assert.deepEqual(attributesIn(value, '/bios'), {});
});

const condition = (attribute: string, operator: string, value: AttributeValue, term?: string) => ({
  MapFromAttribute: attribute,
  MapFromProperty: 'CurrentValue',
  MapFromCondition: operator,
  MapFromValue: value,
  ...(term === undefined ? {} : { MapTerms: term }),
});
const held: [title: string, conditions: readonly object[], isReadOnly: boolean][] = [
  ['a value that is equal', [condition('A', 'EQU', 5)], true],
  ['a value that is not equal', [condition('A', 'EQU', 6)], false],
  ['a value that differs', [condition('A', 'NEQ', 6)], true],
  ['a greater value', [condition('A', 'GTR', 4)], true],
  ['a value that is at least as great', [condition('A', 'GEQ', 5)], true],
  ['a value that is not less', [condition('A', 'LSS', 5)], false],
  ['a value that is at most as great', [condition('A', 'LEQ', 5)], true],
  ['both of two conditions', [condition('A', 'EQU', 5), condition('B', 'EQU', 'on', 'AND')], true],
  ['one of two conditions where both are needed', [condition('A', 'EQU', 5), condition('B', 'EQU', 'off')], false],
  ['one of two conditions', [condition('A', 'EQU', 6), condition('B', 'EQU', 'on', 'OR')], true],
  ['a condition on an attribute without a value', [condition('C', 'NEQ', 'x')], false],
  ['no condition', [], false],
  ['a condition that is unknown', [{ ...condition('A', 'EQU', 5), MapFromProperty: 'GrayOut' }], false],
];
for (const [title, MapFrom, isReadOnly] of held) {
  test(`a dependency on ${title} makes an attribute ${isReadOnly ? 'read-only' : 'no different'}`, () => {
    const registry = registryWith({
      Attributes: [{ AttributeName: 'X', Type: 'String' }],
      Dependencies: [{ Dependency: { MapFrom, MapToAttribute: 'X', MapToProperty: 'ReadOnly', MapToValue: true } }],
    });
    assert.ok(registry);
    const definition = registry.definitions.get('X') ?? assert.fail();
    const values = new Map<string, AttributeValue>([
      ['A', 5],
      ['B', 'on'],
    ]);
    assert.equal(effectivelyReadOnly(definition, values, registry.dependencies), isReadOnly);
  });
}

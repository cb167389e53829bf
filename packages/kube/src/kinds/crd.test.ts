import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { exactlyOneOf, immutable, keptOnceSet, rule } from './cel.ts';
import { objectSchema, toCustomResourceDefinition } from './crd.ts';
import { defineKind } from './define-kind.ts';

const kindOf = (spec: z.ZodType, extra: object = {}) =>
  defineKind({
    group: 'example.dev',
    version: 'v1',
    kind: 'Thing',
    plural: 'things',
    scope: 'Cluster',
    description: 'A thing.',
    columns: { Name: '.spec.name', Size: { path: '.spec.size', type: 'integer', priority: 1 } },
    fields: { spec },
    ...extra,
  });

const member = (schema: z.ZodType): unknown => {
  const { properties } = objectSchema(kindOf(schema)) as { properties: { spec: unknown } }; // of `fields: { spec }`
  return properties.spec;
};

test('default names derive from the kind', () => {
  const { singular, listKind, apiVersion, shortNames } = kindOf(z.object({}));
  assert.deepEqual([singular, listKind, apiVersion, shortNames], ['thing', 'ThingList', 'example.dev/v1', []]);
});

test('columns keep their order; those without a type are text', () => {
  const { spec } = toCustomResourceDefinition(kindOf(z.object({})));
  assert.deepEqual(
    (spec as { versions: { additionalPrinterColumns: unknown }[] }).versions[0]?.additionalPrinterColumns,
    [
      { name: 'Name', type: 'string', jsonPath: '.spec.name' },
      { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 },
    ],
  );
});

test('a deprecated kind carries its warning, another one nothing', () => {
  const versionOf = (extra: object) =>
    (toCustomResourceDefinition(kindOf(z.object({}), extra)).spec as { versions: object[] }).versions[0];
  assert.deepEqual(
    [versionOf({ deprecated: 'gone soon' }), versionOf({})].map((version) => 'deprecationWarning' in (version ?? {})),
    [true, false],
  );
});

test('labels are those of the definition, and the status is a subresource unless the kind has none', () => {
  const partsOf = (extra: object) => {
    const { metadata, spec } = toCustomResourceDefinition(kindOf(z.object({}), extra));
    const [version] = (spec as { versions: { subresources: unknown }[] }).versions; // of toCustomResourceDefinition
    return [metadata.labels, version?.subresources];
  };
  assert.deepEqual(partsOf({}), [undefined, { status: {} }]);
  assert.deepEqual(partsOf({ labels: { a: '' }, hasStatusSubresource: false }), [{ a: '' }, {}]);
});

test('integers have their format, and only explicit bounds', () => {
  assert.deepEqual(member(z.int().meta({ format: 'int64' }).min(0)), { type: 'integer', format: 'int64', minimum: 0 });
});

test('a field with a default is not required', () => {
  const schema = z.object({
    a: z.string(),
    b: z.string().default(''),
    c: z.string().meta({ default: 'x' }),
    d: z.string().optional(),
  });
  assert.deepEqual((member(schema) as { required: string[] }).required, ['a']);
});

test('a map has a value schema and no pattern for keys', () => {
  assert.deepEqual(member(z.record(z.string(), z.string().meta({ format: 'byte' }))), {
    type: 'object',
    additionalProperties: { type: 'string', format: 'byte' },
  });
});

test('slashes in patterns are not escaped', () => {
  assert.deepEqual(member(z.string().regex(/^a\/b\.c$/)), { type: 'string', pattern: '^a/b\\.c$' });
});

test('a quantity is a number or text', () => {
  assert.deepEqual(member(z.string().meta({ 'x-kubernetes-int-or-string': true })), {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  });
});

test('list types survive optional and descriptions', () => {
  const list = z.array(z.string()).meta({ 'x-kubernetes-list-type': 'atomic' }).optional().describe('Words.');
  assert.deepEqual(member(list), {
    type: 'array',
    items: { type: 'string' },
    'x-kubernetes-list-type': 'atomic',
    description: 'Words.',
  });
});

for (const [title, schema] of [
  ['a union', z.union([z.string(), z.number()])],
  ['an intersection', z.intersection(z.object({ a: z.string().min(1) }).describe('x'), z.object({ b: z.string() }))],
  ['a tuple', z.tuple([z.string(), z.number()])],
] as const) {
  test(`${title} is rejected, because no structural schema can express it`, () => {
    assert.throws(() => member(z.object({ inner: schema })), /cannot hold/);
  });
}

test('a literal is an enum of one, and null becomes nullable', () => {
  assert.deepEqual(member(z.literal('a')), { type: 'string', enum: ['a'] });
  assert.deepEqual(member(z.string().nullable()), { type: 'string', nullable: true });
});

test('rules keep the order in which they were added, also through optional', () => {
  const schema = rule(immutable(z.object({ a: z.string() }), 'spec'), 'self.a != ""', 'a is empty').optional();
  assert.deepEqual((member(schema) as Record<string, unknown>)['x-kubernetes-validations'], [
    { rule: 'self == oldSelf', message: 'spec is immutable' },
    { rule: 'self.a != ""', message: 'a is empty' },
  ]);
});

test('a rule does not change the schema that it extends', () => {
  const plain = z.object({ a: z.string().optional() });
  keptOnceSet(exactlyOneOf(plain, ['a'], 'one'), 'a');
  assert.equal(plain.meta()?.['x-kubernetes-validations'], undefined);
});

test('rules over the whole object are at the top of the schema', () => {
  const rules = [{ rule: 'true', message: 'never' }];
  assert.deepEqual(objectSchema(kindOf(z.object({}), { rules }))['x-kubernetes-validations'], rules);
});

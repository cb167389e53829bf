import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingFields } from './crd-comparison.ts';

const text = { type: 'string' };
const wanted = {
  properties: {
    status: {
      properties: {
        state: { ...text, enum: ['On', 'Off'] },
        conditions: { items: { properties: { type: text, reason: text } } },
        labels: { additionalProperties: { properties: { value: text } } },
      },
    },
  },
};

test('a schema that has every field and more lacks nothing', () => {
  assert.deepEqual(missingFields(wanted, { properties: { ...wanted.properties, spec: {} } }), []);
});

test('missing fields and enum values are reported with their paths', () => {
  const served = {
    properties: {
      status: {
        properties: {
          state: { ...text, enum: ['On'] },
          conditions: { items: { properties: { type: text } } },
          labels: { additionalProperties: { properties: {} } },
        },
      },
    },
  };
  assert.deepEqual(missingFields(wanted, served), [
    'status.state=Off',
    'status.conditions[].reason',
    'status.labels.*.value',
  ]);
  assert.deepEqual(missingFields(wanted, { properties: {} }), ['status']);
});

test('a schema that preserves unknown fields lacks nothing', () => {
  assert.deepEqual(missingFields(wanted, { 'x-kubernetes-preserve-unknown-fields': true }), []);
});

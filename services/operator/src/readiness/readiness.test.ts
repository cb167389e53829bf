import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { selectorFault } from '@metal/api/common/label-selector.ts';
import { bootstrapAnnotationOf, hasCompletedBootstrap, unmetCondition } from './readiness.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const serverWith = (annotations: Record<string, string>, statuses: ('True' | 'False')[] = []): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: { name: 's', annotations },
  spec: { systemUUID: 's' },
  status: {
    conditions: statuses.map((status) => ({
      type: 'BurnIn',
      status,
      reason: 'Said',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
  },
});
const rule: ServerReadinessRule = {
  apiVersion,
  kind: 'ServerReadinessRule',
  metadata: { name: 'r', uid: 'second' },
  spec: {
    conditions: [{ type: 'BurnIn', requiredStatus: 'True' }],
    enforcementMode: 'BootstrapOnly',
    taint: { key: 'k', effect: 'NoBind' },
    serverSelector: {},
  },
};

const prefix = 'readiness.metal.ironcore.dev/bootstrap-completed-';

test('the bootstrap annotation has the key of v0.7.0 if the name of the rule is short enough', () => {
  assert.equal(bootstrapAnnotationOf('burn-in'), `${prefix}burn-in`);
  assert.equal(bootstrapAnnotationOf('a'.repeat(43)), `${prefix}${'a'.repeat(43)}`);
});

test('a longer name is cut and made unique by a hash', () => {
  const keys = ['a'.repeat(44), 'a'.repeat(45), 'a.'.repeat(120)].map(bootstrapAnnotationOf);
  assert.equal(new Set(keys).size, 3);
  for (const key of keys) {
    const name = key.slice(key.indexOf('/') + 1);
    assert.equal(name.length, 63);
    assert.match(name, /^[A-Za-z0-9][-A-Za-z0-9_.]*[A-Za-z0-9]$/);
  }
});

for (const [value, counts] of [
  ['second', true],
  ['true', true],
  ['first', false],
] as const) {
  test(`a bootstrap annotation "${value}" ${counts ? 'counts' : 'is that of another rule'}`, () => {
    assert.equal(hasCompletedBootstrap(serverWith({ [`${prefix}r`]: value }), rule), counts);
  });
}

test('every condition of a required type needs the status', () => {
  assert.equal(unmetCondition(serverWith({}), rule), 'BurnIn=True (not reported yet)');
  assert.equal(unmetCondition(serverWith({}, ['True', 'False']), rule), 'BurnIn=True (is False)');
  assert.equal(unmetCondition(serverWith({}, ['True']), rule), undefined);
});

const faults: [selector: Parameters<typeof selectorFault>[0], fault: RegExp | undefined][] = [
  [{}, undefined],
  [{ matchLabels: { 'example.com/rack': 'r_1.a', empty: '' } }, undefined],
  [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }, undefined],
  [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }, undefined],
  [{ matchLabels: { 'a/b/c': 'x' } }, /^matchLabels: "a\/b\/c" is no label key/],
  [{ matchLabels: { rück: 'x' } }, /is no label key/],
  [{ matchLabels: { a: 'not a value' } }, /"not a value" is no label value/],
  [{ matchLabels: { a: 'b'.repeat(300) } }, /"b{80}…" is no label value/],
  [{ matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] }, /^matchExpressions: "Like" is no operator/],
  [{ matchExpressions: [{ key: 'a', operator: 'In' }] }, /In for a needs values/],
  [{ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] }, /Exists for a takes no values/],
];
for (const [selector, fault] of faults) {
  test(`the selector ${JSON.stringify(selector).slice(0, 80)} is ${fault === undefined ? 'fine' : 'faulty'}`, () => {
    if (fault === undefined) assert.equal(selectorFault(selector), undefined);
    else assert.match(selectorFault(selector) ?? '', fault);
  });
}

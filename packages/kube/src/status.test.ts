import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from './kind.ts';
import { statusPatch } from './status.ts';

const now = Date.parse('2026-02-01T00:00:00Z');
const earlier = '2026-01-01T00:00:00Z';
const ready = (status: 'True' | 'False', reason: string) => ({ type: 'Ready', status, reason, message: '' });
const object = (status: object): KubeObject & { status: object } => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a' },
  status,
});

test('nothing is written when the object says all of it already', () => {
  const current = object({
    state: 'On',
    conditions: [{ ...ready('True', 'Fine'), lastTransitionTime: earlier }],
    foreign: 1,
  });
  assert.equal(
    statusPatch(
      current,
      { fields: { state: 'On', size: undefined }, conditions: [ready('True', 'Fine')] },
      ['Ready'],
      now,
    ),
    undefined,
  );
});

test('the transition time moves with the status, not with the reason', () => {
  const current = object({ conditions: [{ ...ready('True', 'Fine'), lastTransitionTime: earlier }] });
  const retold = statusPatch(current, { fields: {}, conditions: [ready('True', 'Better')] }, [], now);
  assert.deepEqual(retold, { conditions: [{ ...ready('True', 'Better'), lastTransitionTime: earlier }] });
  const turned = statusPatch(current, { fields: {}, conditions: [ready('False', 'Broken')] }, [], now);
  assert.deepEqual(turned, {
    conditions: [{ ...ready('False', 'Broken'), lastTransitionTime: '2026-02-01T00:00:00Z' }],
  });
});

test('a field that is no longer reported is written away', () => {
  assert.deepEqual(statusPatch(object({ a: 1, b: 2 }), { fields: { a: 1, b: undefined }, conditions: [] }, [], now), {
    a: 1,
  });
});

test('own conditions that are not looked at yet are carried over, those of others are left to them', () => {
  const mine = { ...ready('True', 'Fine'), type: 'Mine', lastTransitionTime: earlier };
  const foreign = { ...ready('True', 'Fine'), type: 'Foreign', lastTransitionTime: earlier };
  const patch = statusPatch(
    object({ conditions: [mine, foreign] }),
    { fields: { state: 'On' }, conditions: [] },
    ['Mine'],
    now,
  );
  assert.deepEqual(patch, { state: 'On', conditions: [mine] });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../kinds/kind.ts';
import { isSameJson, diffStatus } from './status-diff.ts';

const now = Date.parse('2026-02-01T00:00:00Z');
const earlier = '2026-01-01T00:00:00Z';
const ready = (status: 'True' | 'False', reason: string) => ({ type: 'Ready', status, reason, message: '' });
const object = (status: object): KubeObject & { status: object } => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a' },
  status,
});

test('nothing is written if the object has the reported status already', () => {
  const current = object({
    state: 'On',
    conditions: [{ ...ready('True', 'Fine'), lastTransitionTime: earlier }],
    foreign: 1,
  });
  assert.equal(
    diffStatus(
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
  const updated = diffStatus(current, { fields: {}, conditions: [ready('True', 'Better')] }, [], now)?.status;
  assert.deepEqual(updated, { conditions: [{ ...ready('True', 'Better'), lastTransitionTime: earlier }] });
  const transitioned = diffStatus(current, { fields: {}, conditions: [ready('False', 'Broken')] }, [], now)?.status;
  assert.deepEqual(transitioned, {
    conditions: [{ ...ready('False', 'Broken'), lastTransitionTime: '2026-02-01T00:00:00Z' }],
  });
});

test('a field that is no longer reported is removed', () => {
  const diff = diffStatus(object({ a: 1, b: 2 }), { fields: { a: 1, b: undefined }, conditions: [] }, [], now);
  assert.deepEqual([diff?.status, diff?.changedFields], [{ a: 1 }, ['b']]);
});

test('owned conditions that the report leaves out are carried over, those of other owners are not written', () => {
  const mine = { ...ready('True', 'Fine'), type: 'Mine', lastTransitionTime: earlier };
  const foreign = { ...ready('True', 'Fine'), type: 'Foreign', lastTransitionTime: earlier };
  const patch = diffStatus(
    object({ conditions: [mine, foreign] }),
    { fields: { state: 'On' }, conditions: [] },
    ['Mine'],
    now,
  )?.status;
  assert.deepEqual(patch, { state: 'On', conditions: [mine] });
});

const unready: readonly [before: 'True' | 'False' | undefined, after: 'True' | 'False', stays: boolean][] = [
  ['False', 'False', true],
  ['True', 'False', false],
  ['False', 'True', false],
  [undefined, 'False', false],
];
for (const [before, after, stays] of unready) {
  test(`Ready ${before ?? 'absent'} → ${after} ${stays ? 'stays unready' : 'is a change'}`, () => {
    const known = before === undefined ? [] : [{ ...ready(before, 'Old'), lastTransitionTime: earlier }];
    const diff = diffStatus(object({ conditions: known }), { fields: {}, conditions: [ready(after, 'New')] }, [], now);
    assert.equal(diff?.staysUnready, stays);
  });
}

const pairs: readonly [one: unknown, other: unknown, same: boolean][] = [
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: [{ b: 1 }] }, { a: [{ b: 1, c: undefined }] }, true],
  [{ a: 1 }, { a: 1, b: null }, false],
  [[1, 2], [1], false],
  [[], {}, false],
  ['1', 1, false],
  [null, undefined, false],
];
for (const [one, other, same] of pairs) {
  test(`${JSON.stringify(one)} and ${JSON.stringify(other)} are ${same ? 'the same' : 'different'} as JSON`, () =>
    assert.deepEqual([isSameJson(one, other), isSameJson(other, one)], [same, same]));
}

const generations: readonly [what: string, after: object, isOnly: boolean][] = [
  ['the generation', { ...ready('True', 'Fine'), observedGeneration: 2 }, true],
  ['the generation and a reason', { ...ready('True', 'Better'), observedGeneration: 2 }, false],
];
for (const [what, after, isOnly] of generations)
  test(`${what} of a condition ${isOnly ? 'is all that changes' : 'are more than the generation'}`, () => {
    const known = { ...ready('True', 'Fine'), observedGeneration: 1, lastTransitionTime: earlier };
    const report = { fields: {}, conditions: [after as ReturnType<typeof ready>] };
    assert.equal(diffStatus(object({ conditions: [known] }), report, [], now)?.isOnlyGeneration, isOnly);
  });

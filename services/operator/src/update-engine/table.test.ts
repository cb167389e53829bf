import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { UpdateFacts } from './types.ts';
import { decideDeletion } from './deletion.ts';
import { updateTable } from './table.ts';
import { followRows, verifyRows } from '../../test/update-engine/follow.rows.ts';
import { endRows, pendingRows, windowRows } from '../../test/update-engine/table.rows.ts';
import { created } from '../../test/update-engine/test-facts.ts';

const table = updateTable('Completed');

const suites = {
  'an object that waits': pendingRows,
  'an object with its maintenance': windowRows,
  'an object that has sent its change': followRows,
  'an object that verifies its change': verifyRows,
  'an object at its end': endRows,
};

for (const [name, rows] of Object.entries(suites))
  suite(name, () => {
    for (const [title, phase, facts, expected] of rows)
      test(`${title} (${phase})`, () => {
        const update: UpdateFacts = { ...created, ...facts };
        const decision = phase === 'deleted' ? decideDeletion(update) : table[phase].decide(update);
        const what = { go: 'phase', act: 'action', wait: 'reason', rest: 'kind' }[decision.kind];
        const members: Readonly<Record<string, unknown>> = { ...decision };
        assert.equal(`${decision.kind} ${String(members[what])}`, expected);
        if (decision.kind === 'go' && phase !== 'deleted') assert.ok(table[phase].to.includes(decision.phase));
      });
  });

test('a wait ends at the deadline of the change', () => {
  const attempt = { desired: 'new', sendTime: '2026-01-01T00:00:00Z', acceptTime: '2026-01-01T00:00:00Z' };
  const target = { ...created.target, blocker: { reason: 'BMCNotReady', message: '' } };
  const update: UpdateFacts = { ...created, attempt, target, sentMsAgo: minutes(119) };
  assert.deepEqual(table.InProgress.decide(update), {
    kind: 'wait',
    delayMs: minutes(1),
    reason: 'BMCNotReady',
    message: '',
  });
});

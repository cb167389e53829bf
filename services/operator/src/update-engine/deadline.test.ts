import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { deadlineFailure, deadlineInMs } from './deadline.ts';
import { accepted, begun, blocked, created, installed, invalid, restarted, sent, task } from './test-facts.ts';
import type { UpdateFacts } from './types.ts';

const late = { sentMsAgo: minutes(121), startedMsAgo: minutes(121) };

type Line = [title: string, facts: Partial<UpdateFacts>, reason: string, message: RegExp, isHeld: boolean];

const lines: Line[] = [
  ['that was not sent', { attempt: begun }, 'UpgradeIssueFailed', /installed version is as before/, false],
  [
    'whose machine does not turn on',
    { attempt: begun, isHostOn: false },
    'UpgradeIssueFailed',
    /did not turn on/,
    false,
  ],
  ['whose BMC is silent', { attempt: accepted, target: blocked }, 'BMCSilent', /does not answer/, true],
  [
    'whose server is gone',
    {
      attempt: sent,
      target: { ...blocked, blocker: { reason: 'ServerNotFound', message: 'Server one does not exist' } },
    },
    'BMCSilent',
    /^Server one does not exist; the change was sent before/,
    true,
  ],
  ['whose task runs', { attempt: accepted, task }, 'TaskOverdue', /still installs \(Running, 40 %\)/, true],
  ['without a task', { attempt: accepted }, 'TaskOverdue', /still installs \(unknown, 0 %\)/, true],
  ['whose task waits after the restart', { attempt: restarted, task }, 'TaskOverdue', /still installs/, true],
  ['whose machine was not restarted', { attempt: installed }, 'VerificationFailed', /was not restarted/, false],
  [
    'whose machine is not OK any more',
    { attempt: restarted, unhealthy: 'one' },
    'VerificationFailed',
    /Server one is not OK any more/,
    false,
  ],
  ['whose machine is off', { attempt: restarted, isHostOn: false }, 'VerificationFailed', /lost power/, false],
  ['whose component is gone', { attempt: restarted, comparison: invalid }, 'VerificationFailed', /no image/, false],
  ['whose version is as before', { attempt: restarted }, 'VerificationFailed', /does not report it/, false],
];

for (const [title, facts, reason, message, isHeld] of lines)
  test(`an overdue update ${title} fails with ${reason}`, () => {
    const failure = deadlineFailure({ ...created, ...late, ...facts });
    assert.equal(failure?.reason, reason);
    assert.match(failure?.message ?? '', message);
    assert.equal(failure?.holdsMaintenance === true, isHeld);
    assert.ok((failure?.message.length ?? 0) <= 160, failure?.message);
  });

test('an update that is not overdue has not failed', () => {
  assert.equal(deadlineFailure({ ...created, attempt: accepted, sentMsAgo: minutes(119) }), undefined);
  assert.equal(deadlineInMs({ ...created, attempt: accepted, sentMsAgo: minutes(119) }), minutes(1));
});

test('settings that were not sent have no deadline: a flow has many steps', () => {
  assert.equal(deadlineInMs({ ...created, ...late, attempt: begun, isFlash: false }), Infinity);
});

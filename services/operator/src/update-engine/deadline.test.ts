import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { deadlineFailure, deadlineInMs } from './deadline.ts';
import {
  accepted,
  begun,
  blocked,
  created,
  heldBy,
  installed,
  invalid,
  open,
  restarted,
  sent,
  task,
} from '../../test/update-engine/test-facts.ts';
import type { UpdateFacts } from './types.ts';

const late = { sentMsAgo: minutes(121), startedMsAgo: minutes(121) };

const settings: Partial<UpdateFacts> = { attempt: begun, isFlash: false, comparison: open };

type Line = [title: string, facts: Partial<UpdateFacts>, reason: string, message: RegExp, isHeld: boolean];

const lines: Line[] = [
  [
    'that was not sent',
    { attempt: begun, comparison: open },
    'UpgradeIssueFailed',
    /installed version is as before/,
    false,
  ],
  [
    'whose machine does not turn on',
    { attempt: begun, comparison: open, isHostOn: false },
    'UpgradeIssueFailed',
    /did not turn on/,
    false,
  ],
  ['of settings that the BMC does not take', settings, 'SettingsNotSent', /did not take the settings/, false],
  [
    'of settings whose BMC is silent',
    { ...settings, target: blocked },
    'SettingsNotSent',
    /^nothing was sent in time; retry when this has ended: it does not answer$/,
    false,
  ],
  [
    'of settings whose BMC does not return from a restart',
    { ...settings, bmcReset: { isWanted: true, isUnderWay: true } },
    'SettingsNotSent',
    /did not return in time from its restart/,
    false,
  ],
  [
    'of settings whose BMC cannot be read',
    { ...settings, comparison: undefined },
    'SettingsNotSent',
    /does not let its present state be read/,
    false,
  ],
  [
    'of settings whose BMC has another operation',
    { ...settings, bmcReset: { isWanted: true, isUnderWay: false, heldBy } },
    'SettingsNotSent',
    /remove metal\.ironcore\.dev\/operation=ignore, then retry/,
    false,
  ],
  [
    'whose BMC could not be restarted after the change',
    { attempt: { ...installed, restart: 'BMC' }, bmcReset: { isWanted: false, isUnderWay: false, heldBy } },
    'VerificationFailed',
    /the BMC was not restarted: remove metal\.ironcore\.dev\/operation=ignore/,
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

test('settings that were not sent have the time of a step since it began', () => {
  const waiting = { ...created, attempt: begun, isFlash: false, startedMsAgo: minutes(119) };
  assert.equal(deadlineInMs(waiting), minutes(1));
});

test('an update that has no maintenance yet has no deadline', () => {
  assert.equal(deadlineInMs({ ...created, ...late, attempt: {} }), Infinity);
});

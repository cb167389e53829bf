import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { act, rest, wait } from '@metal/kube/controller/decide.ts';
import type { QueueFacts } from '../../cleanup/queue-position.ts';
import { admissionTable } from './table.ts';

const empty: QueueFacts = {
  ahead: 0,
  running: 0,
  atOnce: 2,
  startedInHour: 0,
  perHour: 5,
  nextHourlySlotInMs: minutes(60),
  available: 200,
};

for (const [what, queue, decision] of [
  ['is not in the queue is ignored', undefined, rest],
  ['is first in the queue is admitted', empty, act('admit', 'CleanupMayStart')],
  ['is first for the last slot is admitted', { ...empty, running: 1 }, act('admit', 'CleanupMayStart')],
  ['is second for the last slot waits', { ...empty, running: 1, ahead: 1 }, wait(minutes(5), 'CleanupMustWait')],
  [
    'comes when the hour is full waits until that is over',
    { ...empty, startedInHour: 5, nextHourlySlotInMs: 90_000 },
    wait(90_000, 'CleanupMustWait'),
  ],
  [
    'has to let others start first waits for that, not for the hour',
    { ...empty, available: 0, nextHourlySlotInMs: 90_000 },
    wait(minutes(5), 'CleanupMustWait'),
  ],
] as const)
  test(`a server that ${what}`, () => {
    assert.deepEqual(admissionTable.Watched.decide({ queue }), decision);
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpdateMemory } from './memory.ts';
import type { UpdateObject, UpdateStatus } from './types.ts';

const attempt = {
  desired: 'new',
  generation: 3,
  startTime: '2026-01-01T00:00:00Z',
  sendTime: '2026-01-01T00:00:01Z',
  step: 'one',
};
const failure = { reason: 'TaskOverdue', message: 'it still installs', time: '2026-01-01T02:00:00Z' };

const objectWith = (status: UpdateStatus | undefined, uid = 'a'): UpdateObject => ({
  apiVersion: '',
  kind: 'BIOSVersion',
  metadata: { name: 'bios', uid },
  spec: { version: '2' },
  status,
});

test('a process goes on with the attempt that the status has, and does not know whether it was sent', () => {
  const memory = new UpdateMemory();
  memory.observe(
    objectWith({ state: 'InProgress', attempt, failure, failedAttempts: 2, upgradeTask: { URI: '/task' } }),
  );
  assert.deepEqual(memory.attempt, attempt);
  assert.deepEqual([memory.failure, memory.failedAttempts, memory.task], [failure, 2, { URI: '/task' }]);
  assert.equal(memory.sending, undefined);
});

test('a status that is older than the memory of the process is not taken over', () => {
  const memory = new UpdateMemory();
  memory.observe(objectWith({ state: 'InProgress' }));
  memory.attempt = attempt;
  memory.observe(objectWith({ state: 'InProgress' }));
  assert.deepEqual(memory.attempt, attempt);
  memory.observe(objectWith({ state: 'InProgress' }, 'another object of the same name'));
  assert.deepEqual(memory.attempt, {});
});

test('a success ends the count of failures and the request that led to it', () => {
  const memory = new UpdateMemory();
  const conditions = [
    {
      type: 'RetryOfFailedResourceIssued',
      status: 'True',
      reason: 'x',
      message: 'retry',
      lastTransitionTime: '',
    } as const,
  ];
  memory.observe(objectWith({ state: 'Failed', failedAttempts: 2, conditions }));
  assert.deepEqual([memory.failedAttempts, memory.retriedBy], [2, 'retry']);
  memory.observe(objectWith({ state: 'Completed' }));
  assert.deepEqual([memory.failedAttempts, memory.retriedBy], [0, undefined]);
});

test('nothing of an earlier attempt counts in the next one', () => {
  const memory = new UpdateMemory();
  memory.observe(objectWith({ state: 'Failed', attempt, failure, upgradeTask: { URI: '/task' } }));
  memory.sending = 'sent';
  memory.beginAttempt();
  assert.deepEqual(
    [memory.attempt, memory.failure, memory.task, memory.sending],
    [{}, undefined, undefined, undefined],
  );
});

test('the next step keeps the maintenance of the attempt and forgets what was sent', () => {
  const memory = new UpdateMemory();
  memory.observe(objectWith({ state: 'InProgress', attempt }));
  memory.beginStep();
  const { desired, generation, startTime } = attempt;
  assert.deepEqual(memory.attempt, { desired, generation, startTime, bmcResetTime: undefined });
});

test('the pauses between reads grow to the longest', () => {
  const memory = new UpdateMemory();
  const pauses = [1, 2, 3, 4, 5, 6].map(() => {
    memory.polled(0, 2, 10);
    return memory.nextPollAt;
  });
  assert.deepEqual(pauses, [2, 3, 4.5, 6.75, 10, 10]);
  memory.resetPolls();
  assert.equal(memory.nextPollAt, 0);
});

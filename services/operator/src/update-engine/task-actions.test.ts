import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorContext } from '../controllers/context.ts';
import { UpdateMemory } from './memory.ts';
import type { UpdateReconcile } from './reconcile.ts';
import { readTask } from './task-actions.ts';
import { accepted, created, target } from '../../test/update-engine/test-facts.ts';
import type { Attempt, UpdateObject } from './types.ts';
import type { UpdateKind } from './update-kind.ts';
import { stateReason } from './version-kind.ts';

/** What is known of an update after its task was read. */
async function memoryAfter(resource: object, tried: Attempt = accepted, generation = 1): Promise<UpdateMemory> {
  const bmc = { read: async () => ({ value: { Messages: [], ...resource }, status: 200 }) };
  const bmcConnections = { withBmc: (_name: string, _connection: object, call: (one: object) => unknown) => call(bmc) };
  const memory = new UpdateMemory();
  memory.attempt = tried;
  memory.task = { URI: '/redfish/v1/TaskService/Tasks/7', state: 'Running' };
  const facts = { ...created, attempt: accepted, target: { ...target, connection: {} } };
  const context = { bmcConnections, clock: { now: () => 0 } } as unknown as OperatorContext;
  // The members that the action uses.
  const object = { metadata: { generation } };
  const reconcile = { object, facts, memory, context } as unknown as UpdateReconcile<UpdateObject>;
  await readTask({} as UpdateKind<UpdateObject>, reconcile);
  return memory;
}

async function failureWith(messages: readonly string[]) {
  const { failure } = await memoryAfter({ TaskState: 'Exception', Messages: messages.map((Message) => ({ Message })) });
  return failure ?? assert.fail('it did not fail');
}

const states: [title: string, resource: object, state: string, isInstalled: boolean][] = [
  ['with a state of Redfish', { TaskState: 'Starting' }, 'Starting', false],
  ['with an empty state keeps the last one', { TaskState: '', PercentComplete: 40 }, 'Running', false],
  ['without a state keeps the last one', { PercentComplete: 40 }, 'Running', false],
  ['that completed is installed', { TaskState: 'Completed' }, 'Completed', true],
];
for (const [title, resource, state, isInstalled] of states)
  test(`a task ${title}`, async () => {
    const { task, attempt, failure } = await memoryAfter(resource);
    assert.equal(task?.state, state);
    assert.equal(attempt.installTime !== undefined, isInstalled);
    assert.equal(failure, undefined);
  });

const reasons: [state: string | undefined, reason: string][] = [
  ['Running', 'Running'],
  ['', 'Unknown'],
  [undefined, 'Unknown'],
  ['In Progress', 'Unknown'],
  ['7', 'Unknown'],
];
for (const [state, reason] of reasons)
  test(`the task state ${JSON.stringify(state)} gives a condition the reason ${reason}`, () => {
    assert.equal(stateReason(state), reason);
  });

test('a failed task gives its messages, as far as a condition has space for them', async () => {
  const short = await failureWith(['wrong checksum', 'try again']);
  assert.deepEqual(
    [short.reason, short.message],
    ['UpgradeTaskFailed', 'the BMC did not install the image: wrong checksum; try again'],
  );
  const { message } = await failureWith(['a'.repeat(150), 'b'.repeat(150), 'c'.repeat(150)]);
  assert.equal(message.length, 160);
  assert.match(message, /^the BMC did not install the image: a+…$/);
});

test('a failed task belongs to the spec that was sent, not to one that was corrected meanwhile', async () => {
  const resource = { TaskState: 'Exception', Messages: [] };
  const { failedGeneration } = await memoryAfter(resource, { ...accepted, generation: 1 }, 2);
  assert.equal(failedGeneration, 1);
  const { failedGeneration: unrecorded } = await memoryAfter(resource, accepted, 2);
  assert.equal(unrecorded, 2, 'the status of an earlier version has no generation');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorContext } from '../controllers/context.ts';
import { UpdateMemory } from './memory.ts';
import type { UpdateReconcile } from './reconcile.ts';
import { readTask } from './task-actions.ts';
import { accepted, created, target } from './test-facts.ts';
import type { UpdateObject } from './types.ts';
import type { UpdateKind } from './update-kind.ts';

/** The failure of an update whose task failed with these messages. */
async function failureWith(messages: readonly string[]) {
  const resource = { TaskState: 'Exception', Messages: messages.map((Message) => ({ Message })) };
  const bmc = { read: async () => ({ value: resource, status: 200 }) };
  const bmcConnections = { withBmc: (_name: string, _connection: object, call: (one: object) => unknown) => call(bmc) };
  const memory = new UpdateMemory();
  memory.attempt = accepted;
  memory.task = { URI: '/redfish/v1/TaskService/Tasks/7', state: 'Running' };
  const facts = { ...created, attempt: accepted, target: { ...target, connection: {} } };
  const context = { bmcConnections, clock: { now: () => 0 } } as unknown as OperatorContext;
  // The members that the action uses.
  const reconcile = { facts, memory, context } as unknown as UpdateReconcile<UpdateObject>;
  await readTask({} as UpdateKind<UpdateObject>, reconcile);
  return memory.failure ?? assert.fail('it did not fail');
}

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

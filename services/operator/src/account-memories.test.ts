import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Password } from '@metal/redfish/bmc.ts';
import { AccountMemories, AccountMemory } from './account-memories.ts';

const password = (text: string) => new Password(text);

test('accounts of one BMC take turns, also after a failure; other BMCs are not waited for', async () => {
  const accounts = new AccountMemories();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = accounts.inTurn('a', async () => {
    await gate.promise;
    order.push('first');
    throw new Error('failed');
  });
  const second = accounts.inTurn('a', async () => order.push('second'));
  await accounts.inTurn('b', async () => order.push('other'));
  gate.resolve();
  await assert.rejects(first, /failed/);
  await second;
  assert.deepEqual(order, ['other', 'first', 'second']);
});

test('an answer belongs to the password that was tried', () => {
  const memory = new AccountMemory();
  memory.tried(password('one'), 'rejected', 5, { whileLockedOut: false });
  assert.equal(memory.trialOf(password('one'))?.answer, 'rejected');
  assert.equal(memory.trialOf(password('two')), undefined);
  assert.equal(memory.rejectedAt, 5);
});

test('while a password is on its way nothing is known, but when a login was rejected', () => {
  const memory = new AccountMemory();
  memory.freshSecret = 'uid';
  memory.placed(password('one'));
  memory.tried(password('one'), 'rejected', 5, { whileLockedOut: false });
  assert.equal(memory.trial?.afterPlacing, true);
  memory.beginPlacing();
  assert.deepEqual([memory.trial, memory.look, memory.freshSecret], [undefined, undefined, undefined]);
  assert.equal(memory.isPlaced(password('one')), false);
  assert.equal(memory.rejectedAt, 5);
});

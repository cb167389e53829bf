import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Password } from '@metal/redfish/http/bmc.ts';
import { ObservedAccounts, ObservedAccount } from './observed-accounts.ts';

const password = (text: string) => new Password(text);

test('accounts of one BMC take turns, also after a failure; other BMCs are not waited for', async () => {
  const accounts = new ObservedAccounts();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = accounts.enqueue('a', async () => {
    await gate.promise;
    order.push('first');
    throw new Error('failed');
  });
  const second = accounts.enqueue('a', async () => order.push('second'));
  await accounts.enqueue('b', async () => order.push('other'));
  gate.resolve();
  await assert.rejects(first, /failed/);
  await second;
  assert.deepEqual(order, ['other', 'first', 'second']);
});

test('an answer belongs to the password that was tried', () => {
  const observed = new ObservedAccount();
  observed.recordVerification(password('one'), 'rejected', 5, { whileLockedOut: false });
  assert.equal(observed.verificationOf(password('one'))?.result, 'rejected');
  assert.equal(observed.verificationOf(password('two')), undefined);
  assert.equal(observed.rejectedAt, 5);
});

test('while a password is on its way nothing is known, but when a login was rejected', () => {
  const observed = new ObservedAccount();
  observed.freshSecret = 'uid';
  observed.recordWrittenPassword(password('one'));
  observed.recordVerification(password('one'), 'rejected', 5, { whileLockedOut: false });
  assert.equal(observed.verification?.afterPasswordWrite, true);
  observed.beginPasswordWrite();
  assert.deepEqual(
    [observed.verification, observed.observation, observed.freshSecret],
    [undefined, undefined, undefined],
  );
  assert.equal(observed.isWrittenPassword(password('one')), false);
  assert.equal(observed.rejectedAt, 5);
});

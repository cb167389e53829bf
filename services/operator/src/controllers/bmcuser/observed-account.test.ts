import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Password } from '@metal/redfish/http/bmc.ts';
import { ObservedAccount } from './observed-account.ts';

const password = (text: string) => new Password(text);

test('a login result belongs to its password', () => {
  const observed = new ObservedAccount();
  observed.recordVerification(password('one'), 'rejected', 5, { whileLockedOut: false });
  assert.equal(observed.verificationOf(password('one'))?.result, 'rejected');
  assert.equal(observed.verificationOf(password('two')), undefined);
  assert.equal(observed.rejectedAt, 5);
});

test('a password write clears everything but the time of the last rejection', () => {
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

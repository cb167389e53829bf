import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RedfishError, type RedfishErrorCode } from '@metal/redfish/errors.ts';
import {
  afterFailure,
  afterSuccess,
  attemptsRecorded,
  type LoginAttempts,
  noAttempts,
  pauseBeforeAttempt,
} from './login-attempts.ts';

const minute = 60_000;
const failing = (attempts: LoginAttempts, code: RedfishErrorCode): LoginAttempts =>
  afterFailure(attempts, new RedfishError({ code, message: 'no' }), 0);

test('the first attempt needs no pause', () => assert.equal(pauseBeforeAttempt(noAttempts, 0), 0));

test('the third attempt waits until the BMC has reset its counter', () => {
  const once = failing(noAttempts, 'AuthenticationFailed');
  assert.equal(pauseBeforeAttempt(once, 0), 10_000);
  const twice = failing(once, 'Forbidden');
  assert.equal(twice.rejected, 2);
  assert.equal(pauseBeforeAttempt(twice, 0), 15 * minute);
});

test('a failure without a rejection is retried after growing pauses', () => {
  const once = failing(noAttempts, 'Unreachable');
  assert.deepEqual([once.rejected, pauseBeforeAttempt(once, 0)], [0, 2_000]);
  assert.equal(pauseBeforeAttempt(failing(once, 'TimedOut'), 0), 4_000);
  assert.equal(pauseBeforeAttempt(failing(noAttempts, 'TlsUntrusted'), 0), 15 * minute);
});

test('the accepted credentials follow the rejected ones', () => {
  assert.equal(afterSuccess(failing(noAttempts, 'AuthenticationFailed'), 0).accepted, 1);
});

test('attempts of an earlier process count while the BMC may count them', () => {
  assert.equal(attemptsRecorded(2, 0, 14 * minute).rejected, 2);
  assert.equal(attemptsRecorded(2, 0, 16 * minute).rejected, 0);
  assert.equal(attemptsRecorded(undefined, 0, 0).rejected, 0);
});

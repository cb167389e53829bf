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

test('the first attempt is made at once', () => assert.equal(pauseBeforeAttempt(noAttempts, 0), 0));

test('two rejections follow each other, the third waits until the BMC has forgotten them', () => {
  const once = failing(noAttempts, 'AuthenticationFailed');
  assert.equal(pauseBeforeAttempt(once, 0), 10_000);
  const twice = failing(once, 'Forbidden');
  assert.equal(twice.rejected, 2);
  assert.equal(pauseBeforeAttempt(twice, 0), 15 * minute);
});

test('a BMC that cannot be asked has rejected nothing, and is asked again after pauses that grow', () => {
  const once = failing(noAttempts, 'Unreachable');
  assert.deepEqual([once.rejected, pauseBeforeAttempt(once, 0)], [0, 2_000]);
  assert.equal(pauseBeforeAttempt(failing(once, 'TimedOut'), 0), 4_000);
  assert.equal(pauseBeforeAttempt(failing(noAttempts, 'TlsUntrusted'), 0), 15 * minute);
});

test('what is accepted is the one after those that were rejected', () => {
  assert.equal(afterSuccess(failing(noAttempts, 'AuthenticationFailed'), 0).accepted, 1);
});

test('what an earlier process tried counts while the BMC may remember it', () => {
  assert.equal(attemptsRecorded(2, 0, 14 * minute).rejected, 2);
  assert.equal(attemptsRecorded(2, 0, 16 * minute).rejected, 0);
  assert.equal(attemptsRecorded(undefined, 0, 0).rejected, 0);
});

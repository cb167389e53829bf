import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ObservedBmc } from './observed-bmc.ts';
import { RedfishError, type RedfishErrorOptions } from '@metal/redfish/errors.ts';

const failure = (code: RedfishErrorOptions['code'], message: string, status?: number) =>
  new RedfishError({ code, message, status });
const circuitOpen = (cause: RedfishError, retryAfterMs: number) =>
  new RedfishError({ code: 'CircuitOpen', message: 'left alone', retryAfterMs, cause });
const broken = failure('Unreachable', 'GET /a: the connection was reset');
const brokenElsewhere = failure('Unreachable', 'GET /b: the connection was reset');
const busy = failure('Busy', 'answered GET /a with 503', 503);

/** The reported error after these failures, one per minute, and the pause after the last in milliseconds. */
function after(...failures: RedfishError[]) {
  const observed = new ObservedBmc(undefined);
  failures.forEach((error, minute) => observed.recordFailure(error, minute * 60_000, 0));
  const { error, count, retryAt } = observed.failure ?? assert.fail('nothing failed');
  return { reported: error, count, pauseMs: retryAt - (failures.length - 1) * 60_000 };
}

test('pauses between failures double up to two minutes', () => {
  const pauses = Array.from({ length: 9 }, (_, index) => after(...Array(index + 1).fill(broken)).pauseMs / 1_000);
  assert.deepEqual(pauses, [1, 2, 4, 8, 16, 32, 64, 120, 120]);
});

test('an open circuit reports the last failure with its first message', () => {
  const reported = (...failures: RedfishError[]) => after(...failures).reported;
  assert.equal(reported(circuitOpen(broken, 0)), broken);
  assert.equal(reported(broken, circuitOpen(brokenElsewhere, 0)), broken);
  assert.equal(reported(busy, circuitOpen(broken, 0)), broken);
  assert.equal(reported(failure('HttpError', 'with 500', 500), circuitOpen(busy, 0)), busy);
});

test('an open circuit is not counted as a failure, and ends when the BMC may be tried', () => {
  assert.partialDeepStrictEqual(after(broken, circuitOpen(broken, 5_000)), { count: 1, pauseMs: 5_000 });
  assert.partialDeepStrictEqual(after(broken, circuitOpen(broken, 0)), { count: 1, pauseMs: 1_000 });
  assert.partialDeepStrictEqual(after(broken, circuitOpen(broken, 0), broken), { count: 2, pauseMs: 2_000 });
});

test('a rejected login stays after later failures', () => {
  const rejection = failure('AuthenticationFailed', 'rejected', 401);
  for (const error of [broken, busy, circuitOpen(broken, 0)]) assert.equal(after(rejection, error).reported, rejection);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError, OperatorError } from '../errors.ts';
import { retryPolicyOf } from './retry-policy.ts';

/** As of packages that do not import this one. */
class BmcError extends Error {
  readonly code = 'Unreachable';
  readonly retry = 'later';
}

test('a failed reconcile is logged once as a warning, with the code of the error', () => {
  const expected = { level: 'warn', fields: { code: 'Unreachable', error: 'no route' }, message: 'reconcile failed' };
  assert.deepEqual(retryPolicyOf(new BmcError('no route'), 0).log, expected);
  assert.equal(retryPolicyOf(new BmcError('no route'), 1).log, undefined);
  const blocked = new OperatorError({ code: 'FuseBlown', message: 'replace it', retry: 'blocked' });
  assert.deepEqual(retryPolicyOf(blocked, 1).log?.fields, { code: 'FuseBlown', error: 'replace it' });
});

test('an error without a retry class is a defect, and logged as an error', () => {
  const { log } = retryPolicyOf(new TypeError('not a function'), 3);
  assert.equal(log?.level, 'error');
  assert.deepEqual(Object.keys(log?.fields ?? {}), ['code', 'error']);
});

test('a conflict is not logged', () => {
  assert.equal(retryPolicyOf(new KubeError({ code: 'Conflict', message: 'changed' }), 0).log, undefined);
});

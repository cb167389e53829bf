import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { rotationOf } from './rotation.ts';

const now = Date.UTC(2026, 5, 1);
const at = (hours: number) => new Date(now + hours * 3_600_000).toISOString();

function rotation({ period, last, expires, operation }: Record<string, string | undefined>) {
  const user: BMCUser = {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'BMCUser',
    metadata: {
      name: 'ada',
      ...(operation === undefined ? {} : { annotations: { 'metal.ironcore.dev/operation': operation } }),
    },
    spec: { userName: 'ada', roleID: 'Operator', rotationPeriod: period },
  };
  return rotationOf(user, { lastRotation: last, passwordExpiration: expires, now });
}

test('the next rotation counts from the last one, not from now', () =>
  assert.deepEqual(rotation({ period: '24h', last: at(-20) }).next, {
    at: at(4).replace('.000', ''),
    inMs: 4 * 3_600_000,
  }));

const cases: [title: string, given: Record<string, string | undefined>, reason: string | undefined][] = [
  ['without a period nothing is due', { last: at(-10_000) }, undefined],
  ['a period that has not ended waits', { period: '24h', last: at(-20) }, undefined],
  ['a period that has ended is due', { period: '24h', last: at(-24) }, 'RotationDue'],
  ['a period without a last rotation is due', { period: '24h' }, 'RotationDue'],
  ['the annotation takes precedence', { period: '24h', operation: 'rotate-credentials' }, 'RotationRequested'],
  ['another operation has no effect', { operation: 'ignore' }, undefined],
  ['an expired password is replaced', { last: at(-48), expires: at(-1) }, 'PasswordExpired'],
  ['a password that expires later is not', { last: at(-48), expires: at(1) }, undefined],
  ['an expiration before the last rotation is stale', { last: at(-1), expires: at(-2) }, undefined],
];
for (const [title, given, reason] of cases) test(title, () => assert.equal(rotation(given).reason, reason));

for (const period of ['1d', 'soon', '30s', '-1h', '0']) {
  test(`the period "${period}" is an error, and nothing is rotated`, () => {
    const { userError, reason, next } = rotation({ period });
    assert.equal(userError?.reason, 'InvalidRotationPeriod');
    assert.deepEqual([reason, next], [undefined, undefined]);
  });
}

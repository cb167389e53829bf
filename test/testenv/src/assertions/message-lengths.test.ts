import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Store } from '@metal/kube/cache/store.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { lengthOf, longestMessage, MessageLengths } from './message-lengths.ts';

function withMessage(message: string, resourceVersion: string): KubeObject {
  const status = { conditions: [{ type: 'Ready', status: 'False', reason: 'Unreachable', message }] };
  return Object.assign(
    { apiVersion: 'v1', kind: 'BMC', metadata: { name: 'a', uid: '1', resourceVersion } },
    { status },
  );
}

test('names, URLs, fingerprints, addresses and times count as one character each', () => {
  const fingerprint = Array.from({ length: 32 }, () => 'AB').join(':');
  assert.equal(
    lengthOf(`the certificate of https://192.0.2.1:443 has ${fingerprint}`),
    'the certificate of # has #'.length,
  );
  assert.equal(lengthOf('BMC "rack-1" of dell-0001-system-0'), 'BMC # of #'.length);
  assert.equal(lengthOf('asked at 2026-01-01T00:00:00Z for 30 s'), 'asked at # for # s'.length);
  assert.equal(lengthOf('"it says all of this"'), '"it says all of this"'.length);
});

test('a condition with a long message is reported with its reason, its length and its message', () => {
  const objects = new Store<KubeObject>();
  const lengths = new MessageLengths();
  lengths.watch(objects);
  objects.upsertIfNewer(withMessage('x '.repeat(longestMessage / 2), '1'));
  lengths.verify();
  objects.upsertIfNewer(withMessage(`${'x '.repeat(longestMessage / 2)}x`, '2'));
  assert.throws(() => lengths.verify(), /BMC Ready Unreachable, 161: [x ]+$/);
});

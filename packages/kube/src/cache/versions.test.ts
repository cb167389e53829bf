import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNewerVersion } from './versions.ts';

test('versions compare as exact numbers of any length', () => {
  const rising = ['0', '9', '10', '99', '100', '9007199254740992', '9007199254740993', '10000000000000000001'];
  for (const [at, version] of rising.entries())
    for (const [other, known] of rising.entries())
      assert.equal(isNewerVersion(version, known), at > other, `${version} and ${known}`);
});

test('any version is newer than a missing one', () => {
  assert.deepEqual(
    [isNewerVersion('1', undefined), isNewerVersion(undefined, '1'), isNewerVersion(undefined, undefined)],
    [true, false, false],
  );
});

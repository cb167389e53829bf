import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, VersionObject } from './types.ts';
import { desiredOf, isOutdated } from './version-part.ts';

const at = '2026-01-01T00:00:00Z';
const objectOf = (version: string, URI = 'http://192.0.2.1/x'): VersionObject => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'BIOSVersion',
  metadata: { name: 'x' },
  spec: { version, image: { URI } },
});
const unknown = objectOf('');
const desired = desiredOf(unknown);
const bios = { name: 'BIOS', version: '1.0' };
const isOpen = (object: VersionObject, attempt: Attempt = {}) => isOutdated(bios, { object, attempt });

test('another version is installed, whatever was done before', () => {
  assert.equal(isOpen(objectOf('1.0')), false);
  assert.equal(isOpen(objectOf('2.0'), { desired: desiredOf(objectOf('2.0')), installTime: at, resetTime: at }), true);
});

test('an image of unknown version is installed once, until another image is desired', () => {
  assert.equal(isOpen(unknown), true);
  assert.equal(isOpen(unknown, { desired, installTime: at }), true, 'nothing was restarted for it yet');
  assert.equal(isOpen(unknown, { desired, installTime: at, resetTime: at }), false);
  assert.equal(isOpen(objectOf('', 'http://192.0.2.1/y'), { desired, installTime: at, resetTime: at }), true);
});

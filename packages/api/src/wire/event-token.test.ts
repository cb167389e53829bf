import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { uidOfBootToken } from './boot-token.ts';
import { isEventToken, mintEventToken } from './event-token.ts';

const key = new Uint8Array(32).fill(7);

test('an event token is the prefix of an HMAC over the UID of the BMC', () => {
  const whole = createHmac('sha256', key).update('metal-event-token/v1/uid-1').digest('base64url');
  assert.equal(mintEventToken(key, 'uid-1'), whole.slice(0, 32));
});

test('an event token is valid for its own BMC only, and never as a boot token', () => {
  const token = mintEventToken(key, 'uid-1');
  assert.equal(isEventToken(key, 'uid-1', token), true);
  assert.equal(isEventToken(key, 'uid-2', token), false);
  assert.equal(isEventToken(new Uint8Array(32).fill(8), 'uid-1', token), false);
  assert.equal(uidOfBootToken(key, token), undefined);
});

for (const candidate of ['', 'x', 'ü'.repeat(16), '\u0000'.repeat(32)]) {
  test(`${JSON.stringify(candidate)} is not an event token`, () =>
    assert.equal(isEventToken(key, 'uid-1', candidate), false));
}

test('an event token is minted neither with a short key nor for an empty UID', () => {
  assert.throws(() => mintEventToken(new Uint8Array(16), 'uid-1'), RangeError);
  assert.throws(() => mintEventToken(key, ''), RangeError);
  assert.throws(() => isEventToken(key, '', 'x'), RangeError);
});

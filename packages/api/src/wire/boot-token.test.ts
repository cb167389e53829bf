import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { isBootToken, mintBootToken } from './boot-token.ts';

const key = new Uint8Array(32).fill(7);

test('a token is the start of an HMAC over the UID of the boot configuration', () => {
  const whole = createHmac('sha256', key).update('metal-boot-token/v1/uid-1').digest('base64url');
  assert.equal(mintBootToken(key, 'uid-1'), whole.slice(0, 32));
});

test('a token fits into a URL and a kernel command line', () => {
  assert.match(mintBootToken(key, 'uid-1'), /^[A-Za-z0-9_-]{32}$/);
});

test('a token is good for its own boot attempt only', () => {
  const token = mintBootToken(key, 'uid-1');
  assert.equal(isBootToken(key, 'uid-1', token), true);
  assert.equal(isBootToken(key, 'uid-2', token), false);
  assert.equal(isBootToken(new Uint8Array(32).fill(8), 'uid-1', token), false);
});

for (const candidate of ['', 'x', 'ü'.repeat(16), '\u0000'.repeat(32)]) {
  test(`${JSON.stringify(candidate)} is no token`, () => assert.equal(isBootToken(key, 'uid-1', candidate), false));
}

test('neither a short key nor an empty UID makes a token', () => {
  assert.throws(() => mintBootToken(new Uint8Array(16), 'uid-1'), RangeError);
  assert.throws(() => mintBootToken(key, ''), RangeError);
  assert.throws(() => isBootToken(key, '', 'x'), RangeError);
});

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { mintBootToken, uidOfBootToken } from './boot-token.ts';

const key = new Uint8Array(32).fill(7);
const [uid, other] = ['0b9e1f4c-5d0a-4c8e-9f0a-2b6d1c7e8f90', '0b9e1f4c-5d0a-4c8e-9f0a-2b6d1c7e8f91'];

test('a token consists of the UID of the boot configuration and the start of an HMAC over it', () => {
  const named = Buffer.from(uid.replaceAll('-', ''), 'hex').toString('base64url');
  const mac = createHmac('sha256', key).update(`metal-boot-token/v2/${uid}`).digest('base64url');
  assert.equal(mintBootToken(key, uid), named + mac.slice(0, 22));
});

test('a token fits into a URL, a kernel command line and the URL field of DHCP', () => {
  assert.match(mintBootToken(key, uid), /^[A-Za-z0-9_-]{44}$/);
});

test('a token is valid for its own boot attempt only', () => {
  const token = mintBootToken(key, uid);
  assert.equal(uidOfBootToken(key, token), uid);
  assert.equal(uidOfBootToken(new Uint8Array(32).fill(8), token), undefined);
  const forged = mintBootToken(key, other).slice(0, 22) + token.slice(22);
  assert.equal(uidOfBootToken(key, forged), undefined);
});

const token = mintBootToken(key, uid);
for (const candidate of [
  '',
  'x',
  'ü'.repeat(22),
  '\u0000'.repeat(44),
  'A'.repeat(44),
  `${token}A`,
  ` ${token}`,
  `${token}=`,
  token.slice(0, -1),
  `${token.slice(0, 21)}=${token.slice(22)}`,
]) {
  test(`${JSON.stringify(candidate)} is not a token`, () => assert.equal(uidOfBootToken(key, candidate), undefined));
}

test('a token is minted neither with a short key nor for an invalid UID', () => {
  assert.throws(() => mintBootToken(new Uint8Array(16), uid), RangeError);
  for (const odd of ['', 'uid-1', uid.toUpperCase(), `${uid}0`])
    assert.throws(() => mintBootToken(key, odd), RangeError);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FirmwareGrant, mintFirmwareToken, readFirmwareToken } from './firmware-token.ts';

const key = new Uint8Array(32).fill(7);
const grant: FirmwareGrant = {
  kind: 'BIOSVersion',
  name: 'bios-1',
  size: 31_457_280,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  expiresAt: 1_800_000_000_000,
};
const token = mintFirmwareToken(key, grant);
const before = grant.expiresAt - 1;

test('a token of an image names size, hash and expiry, and fits into a URL', () => {
  assert.match(token, /^[A-Za-z0-9._-]{70,90}$/);
  assert.deepEqual(readFirmwareToken(key, grant, token, before), grant);
});

test('a token of an image is valid until its expiry, for its object only, and with its key only', () => {
  assert.equal(readFirmwareToken(key, grant, token, grant.expiresAt), undefined);
  assert.equal(readFirmwareToken(key, { ...grant, name: 'bios-2' }, token, before), undefined);
  assert.equal(readFirmwareToken(key, { ...grant, kind: 'BMCVersion' }, token, before), undefined);
  assert.equal(readFirmwareToken(new Uint8Array(32).fill(8), grant, token, before), undefined);
});

test('a token of an image with another content or expiry is not accepted', () => {
  const [expiry = '', size = '', hash = '', mac = ''] = token.split('.');
  const later = (Number.parseInt(expiry, 36) + 1).toString(36);
  for (const forged of [
    [later, size, hash, mac],
    [expiry, 'a', hash, mac],
    [expiry, size, 'A'.repeat(43), mac],
    [expiry, size, hash, 'A'.repeat(22)],
    [expiry, size, hash],
  ])
    assert.equal(readFirmwareToken(key, grant, forged.join('.'), before), undefined);
  assert.equal(readFirmwareToken(key, grant, '', before), undefined);
});

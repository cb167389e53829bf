import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageSourcesOf } from './image-sources.ts';

const byDefault: readonly [address: string, isRefused: boolean][] = [
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['0.0.0.0', true],
  ['169.254.169.254', true],
  ['224.0.0.1', true],
  ['100.100.100.200', true],
  ['168.63.129.16', true],
  ['::1', true],
  ['::', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:169.254.169.254', true],
  ['64:ff9b::a9fe:a9fe', true],
  ['fe80::1', true],
  ['ff02::1', true],
  ['fd00:ec2::254', true],
  ['10.0.0.1', false],
  ['192.168.1.1', false],
  ['fd00::1', false],
  ['2001:db8::1', false],
];
for (const [address, isRefused] of byDefault) {
  test(`the default networks ${isRefused ? 'refuse' : 'allow'} ${address}`, () => {
    assert.equal(imageSourcesOf([], []).isRefusedAddress(address), isRefused);
  });
}

test('origins are normalised as URLs are, and the default list is empty', () => {
  assert.deepEqual(imageSourcesOf([], []).allowedOrigins, []);
  const { allowedOrigins } = imageSourcesOf(['HTTPS://Images.Test:443/', 'http://10.0.0.1:8080'], []);
  assert.deepEqual(allowedOrigins, ['https://images.test', 'http://10.0.0.1:8080']);
});

for (const origin of [
  'images.test',
  'ftp://images.test',
  'http://u:secret@images.test',
  'http://images.test/os',
  '*',
]) {
  test(`${origin} is refused as an origin, and the error does not show a password`, () => {
    assert.throws(() => imageSourcesOf([origin], []), {
      code: 'InvalidConfiguration',
      message: /^(?!.*secret).*--allowed-image-origins: expected origins/,
    });
  });
}

for (const network of ['127.0.0.1', '10.0.0.0/33', 'fe80::/129', 'loopback', '/8']) {
  test(`${network} is refused as a network`, () => {
    assert.throws(() => imageSourcesOf([], [network]), /--refused-image-networks: ".*" is no network/);
  });
}

test('an allowed origin with a refused address is an error, unless the list of networks leaves the address out', () => {
  for (const origin of ['http://127.0.0.1:8080', 'http://[::1]', 'http://2130706433'])
    assert.throws(() => imageSourcesOf([origin], []), /is an address that --refused-image-networks refuses/);
  assert.deepEqual(imageSourcesOf(['http://127.0.0.1:8080'], ['169.254.0.0/16']).allowedOrigins, [
    'http://127.0.0.1:8080',
  ]);
});

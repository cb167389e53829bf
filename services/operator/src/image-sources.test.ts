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
  test(`by default an image ${isRefused ? 'never' : 'may'} come from ${address}`, () => {
    assert.equal(imageSourcesOf([], []).isRefusedAddress(address), isRefused);
  });
}

test('origins are compared as URLs have them, and none is allowed by default', () => {
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
  test(`${origin} is no origin, and a password in it is not repeated`, () => {
    assert.throws(() => imageSourcesOf([origin], []), {
      code: 'InvalidConfiguration',
      message: /^(?!.*secret).*--allowed-image-origins: expected origins/,
    });
  });
}

for (const network of ['127.0.0.1', '10.0.0.0/33', 'fe80::/129', 'loopback', '/8']) {
  test(`${network} is no network`, () => {
    assert.throws(() => imageSourcesOf([], [network]), /--refused-image-networks: ".*" is no network/);
  });
}

test('an origin whose address is refused is a contradiction, unless the list of networks leaves it out', () => {
  for (const origin of ['http://127.0.0.1:8080', 'http://[::1]', 'http://2130706433'])
    assert.throws(() => imageSourcesOf([origin], []), /is an address that --refused-image-networks refuses/);
  assert.deepEqual(imageSourcesOf(['http://127.0.0.1:8080'], ['169.254.0.0/16']).allowedOrigins, [
    'http://127.0.0.1:8080',
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { metadataAddressesAnnotation } from '@metal/api/wire/contract.ts';
import { addressesOf, canonicalAddress, unusableAddresses } from './addresses.ts';

const spellings: [string, string | undefined][] = [
  ['192.0.2.1', '192.0.2.1'],
  [' 192.0.2.1 ', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['192.0.2.256', undefined],
  ['192.0.02.1', undefined],
  ['', undefined],
  ['host.example', undefined],
];
for (const [text, expected] of spellings) {
  test(`the canonical form of "${text}" is ${expected ?? 'none'}`, () =>
    assert.equal(canonicalAddress(text), expected));
}

const serverWith = (ips: string[], annotation?: string): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: {
    name: 'a',
    ...(annotation === undefined ? {} : { annotations: { [metadataAddressesAnnotation]: annotation } }),
  },
  spec: { systemUUID: 'x' },
  status: { networkInterfaces: [{ name: 'eth0', macAddress: '', ips }] },
});

test('loopback, link-local and unspecified addresses identify no server', () => {
  const shared = [
    '127.0.0.1',
    '127.3.2.1',
    '::1',
    '0.0.0.0',
    '::',
    '169.254.1.1',
    'fe80::1',
    'FE80::1%eth0',
    'ff02::1',
  ];
  assert.deepEqual(addressesOf(serverWith([...shared, '10.0.0.5', '2001:db8::5'])), ['10.0.0.5', '2001:db8::5']);
  assert.deepEqual(addressesOf(serverWith(['::ffff:127.0.0.1', '::ffff:169.254.9.9'])), []);
});

test('an address that the probe reported twice counts once', () => {
  assert.deepEqual(addressesOf(serverWith(['10.0.0.5', '::ffff:10.0.0.5'])), ['10.0.0.5']);
});

test('addresses of the annotation replace those of discovery', () => {
  assert.deepEqual(addressesOf(serverWith(['10.0.0.5'], '10.9.9.1, 2001:DB8::9 ,nonsense')), [
    '10.9.9.1',
    '2001:db8::9',
  ]);
  assert.deepEqual(addressesOf(serverWith(['10.0.0.5'], '')), [], 'an empty list leaves only the token');
  assert.deepEqual(addressesOf(serverWith([], '127.0.0.2,fe80::1,0.0.0.0')), ['127.0.0.2']);
});

test('unusable addresses of the annotation are listed', () => {
  assert.deepEqual(unusableAddresses(serverWith(['fe80::1'], '10.9.9.1, nonsense,fe80::1,, 127.0.0.2')), [
    'nonsense',
    'fe80::1',
  ]);
  assert.deepEqual(unusableAddresses(serverWith(['fe80::1'])), []);
});

test('the deprecated single address identifies a server', () => {
  const server = serverWith([]);
  const [first] = server.status?.networkInterfaces ?? [];
  assert.ok(first);
  const old = { ...server, status: { networkInterfaces: [{ name: 'eth0', macAddress: '', ip: '10.0.0.7' }] } };
  assert.deepEqual(addressesOf(old), ['10.0.0.7']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DhcpFlags, settingsOf } from './settings.ts';

const flags: DhcpFlags = {
  ranges: '192.0.2.100-192.0.2.199/24',
  interfaces: '',
  nameServers: '',
  leaseMs: 3_600_000,
  macPrefixes: '',
  unknown: 'ignore',
  tftpRoot: '/usr/lib/ipxe',
  directory: '/var/lib/metal-operator/dhcp',
  endpointRanges: '',
  bootUrl: 'http://192.0.2.1:8082',
};

test('a range has a netmask, and a router if the option contains one', () => {
  const { ranges } = settingsOf({ ...flags, ranges: '10.1.0.5-10.1.3.4/22@10.1.0.1, 192.0.2.7-192.0.2.7/24' });
  assert.deepEqual(ranges, [
    { first: '10.1.0.5', last: '10.1.3.4', netmask: '255.255.252.0', router: '10.1.0.1', size: 768 },
    { first: '192.0.2.7', last: '192.0.2.7', netmask: '255.255.255.0', router: undefined, size: 1 },
  ]);
});

test('an address is matched against the management networks', () => {
  const { isManagementAddress } = settingsOf({ ...flags, endpointRanges: '10.0.0.0/8, 192.0.2.128/25' });
  assert.deepEqual(['10.9.9.9', '192.0.2.129', '192.0.2.1', '::1', ''].map(isManagementAddress), [
    true,
    true,
    false,
    false,
    false,
  ]);
  assert.equal(settingsOf(flags).isManagementAddress('10.9.9.9'), false);
});

test('the lease time is at least the minimum of dnsmasq', () => {
  assert.equal(settingsOf({ ...flags, leaseMs: 10_000 }).leaseSeconds, 120);
});

for (const [option, override] of [
  ['dhcp-ranges', { ranges: '192.0.2.100' }],
  ['dhcp-ranges', { ranges: '192.0.2.100-192.0.2.50/24' }],
  ['dhcp-ranges', { ranges: '192.0.2.100-192.0.3.50/24' }],
  ['dhcp-ranges', { ranges: '192.0.2.100-192.0.2.500/24' }],
  ['dhcp-ranges', { ranges: '192.0.2.100-192.0.2.199/24@192.0.9.1' }],
  ['dhcp-ranges', { ranges: '192.0.2.100-192.0.2.199/24\ndhcp-script=/tmp/x' }],
  ['dhcp-interfaces', { interfaces: 'eth0\ndhcp-script=/tmp/x' }],
  ['dhcp-interfaces', { interfaces: 'an interface' }],
  ['dhcp-dns', { nameServers: 'dns.test' }],
  ['dhcp-mac-prefixes', { macPrefixes: '3cecef,"' }],
  ['dhcp-endpoint-range', { endpointRanges: '10.0.0.0' }],
  ['dhcp-directory', { directory: "/var/lib/it's" }],
  ['dhcp-directory', { directory: 'relative' }],
  ['tftp-root', { tftpRoot: '/srv/tftp,eth0' }],
  ['boot-url', { bootUrl: 'http://boot.test/a,b' }],
  ['boot-url', { bootUrl: 'http://boot.test/"' }],
  ['boot-url', { bootUrl: 'http://boot.test/\nport=53' }],
] as const) {
  test(`${JSON.stringify(override)} is rejected with the name of its option`, () => {
    assert.throws(() => settingsOf({ ...flags, ...override }), {
      code: 'DhcpOptionInvalid',
      message: new RegExp(`^--${option}: ".*" is not `),
    });
  });
}

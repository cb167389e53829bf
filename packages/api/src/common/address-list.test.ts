import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAddressOrNetwork, addressMatcher } from './address-list.ts';

test('addresses and networks are distinguished from other text', () => {
  for (const text of ['192.0.2.7', '192.0.2.0/24', '2001:db8::1', '2001:db8::/32'])
    assert.ok(isAddressOrNetwork(text), text);
  for (const text of ['', 'proxy', '192.0.2.0/33', '192.0.2.0/', '192.0.2.0/24/8', '2001:db8::/129'])
    assert.ok(!isAddressOrNetwork(text), text);
});

test('an address is a member of its networks, also in the IPv4-mapped form of a dual-stack socket', () => {
  const isMember = addressMatcher(['192.0.2.0/28', '2001:db8::/32', '198.51.100.7']);
  for (const address of ['192.0.2.15', '::ffff:192.0.2.1', '2001:db8::9', '198.51.100.7'])
    assert.ok(isMember(address), address);
  for (const address of ['192.0.2.16', '2001:db9::1', '198.51.100.8', 'aa:bb:cc:00:00:01', ''])
    assert.ok(!isMember(address), address);
  assert.ok(!addressMatcher([])('127.0.0.1'));
});

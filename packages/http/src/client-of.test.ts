import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf, plainAddress } from './client-of.ts';

test('an IPv4 address is written as such, also if the socket reports it as IPv6', () => {
  assert.equal(plainAddress('::ffff:127.0.0.1'), '127.0.0.1');
  assert.equal(plainAddress('2001:db8::7'), '2001:db8::7');
  assert.equal(clientOf('::ffff:127.0.0.1'), clientOf('127.0.0.1'));
});

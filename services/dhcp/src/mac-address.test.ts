import assert from 'node:assert/strict';
import { test } from 'node:test';
import { macOf, macPatternsOf } from './mac-address.ts';

for (const [text, expected] of [
  ['AA:BB:CC:00:11:22', 'aa:bb:cc:00:11:22'],
  ['aa-bb-cc-00-11-22', 'aa:bb:cc:00:11:22'],
  ['aabb.cc00.1122', 'aa:bb:cc:00:11:22'],
  ['AABBCC001122', 'aa:bb:cc:00:11:22'],
  ['', undefined],
  [undefined, undefined],
  ['aa:bb:cc:00:11', undefined],
  ['aa:bb:cc:00:11:22:33', undefined],
  ['aa:bb:cc:00:11:22\ndhcp-script=/tmp/x', undefined],
  ['aa:bb:cc:00:11:2,', undefined],
  ['"aabbcc001122"', undefined],
  ['80:00:02:08:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:10:11:12', undefined],
] as const) {
  test(`the address ${JSON.stringify(text)} has the canonical form ${expected ?? 'none'}`, () =>
    assert.equal(macOf(text), expected));
}

test('a prefix of whole octets has one pattern', () => {
  assert.deepEqual(macPatternsOf('3C:EC-EF'), ['3c:ec:ef:*:*:*']);
  assert.deepEqual(macPatternsOf('aabbcc001122'), ['aa:bb:cc:00:11:22']);
  assert.equal(macPatternsOf(''), undefined);
  assert.equal(macPatternsOf('aa:*'), undefined);
});

test('a prefix that ends within an octet has sixteen patterns', () => {
  const patterns = macPatternsOf('3ce') ?? [];
  assert.equal(patterns.length, 16);
  assert.deepEqual([patterns[0], patterns[15]], ['3c:e0:*:*:*:*', '3c:ef:*:*:*:*']);
});

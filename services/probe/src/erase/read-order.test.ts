import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readErasureOrder } from './read-order.ts';

test('an order is read with defaults for missing fields', () => {
  const text = JSON.stringify({ attempt: 2, mode: 'Clear', disks: [{ serial: 'S1', sizeBytes: 5 }], later: true });
  assert.deepEqual(readErasureOrder(text), {
    attempt: 2,
    mode: 'Clear',
    disks: [{ serial: 'S1', wwid: '', model: '', sizeBytes: 5 }],
  });
});

const invalidOrders: [string, string, RegExp][] = [
  ['invalid JSON', '{', /erasure\.json is not a valid erasure order: /],
  ['an unknown mode', JSON.stringify({ attempt: 1, mode: 'Melt', disks: [] }), /mode/],
  ['a disk in mode None', JSON.stringify({ attempt: 1, mode: 'None', disks: [{ sizeBytes: 5 }] }), /mode/],
  ['no list of disks', JSON.stringify({ attempt: 1, mode: 'Purge' }), /disks/],
];
for (const [title, text, message] of invalidOrders) {
  test(`an order with ${title} is rejected`, () => {
    assert.throws(() => readErasureOrder(text), { code: 'OrderInvalid', retry: 'blocked', message });
  });
}

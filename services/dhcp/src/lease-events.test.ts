import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseEventOf } from './lease-events.ts';

for (const [text, expected] of [
  ['add 02:00:00:00:00:01 192.0.2.7\n', { event: 'add', macAddress: '02:00:00:00:00:01', ip: '192.0.2.7' }],
  ['del 02:00:00:00:00:01 192.0.2.7\n', { event: 'del', macAddress: '02:00:00:00:00:01', ip: '192.0.2.7' }],
  ['', undefined],
  ['add 02:00:00:00:00:01 192.0.2', undefined],
  ['add 02:00:00:00:00:01 192.0.2.7', undefined],
  ['add 20-02:00:00:00:00:01 192.0.2.7\n', undefined],
  ['add 02:00:00:00:00:01 2001:db8::1\n', undefined],
  ['tftp 02:00:00:00:00:01 192.0.2.7\n', undefined],
  ['add 02:00:00:00:00:01 192.0.2.7\nadd 02:00:00:00:00:02 192.0.2.8\n', undefined],
] as const) {
  test(`the file ${JSON.stringify(text)} says ${expected === undefined ? 'nothing' : `who has ${expected.ip}`}`, () =>
    assert.deepEqual(leaseEventOf(text), expected));
}

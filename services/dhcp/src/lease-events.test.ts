import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { type LeaseEvent, leaseEventOf, LeaseEvents } from './lease-events.ts';

const lease = { macAddress: '02:00:00:00:00:01', ip: '192.0.2.7', expiresAtMs: 1_700_000_000_000 };

for (const [text, expected] of [
  ['add 02:00:00:00:00:01 192.0.2.7 1700000000\n', { event: 'add', ...lease }],
  ['old 02-00-00-00-00-01 192.0.2.7 1700000000\n', { event: 'old', ...lease }],
  ['del 02:00:00:00:00:01 192.0.2.7 0\n', { event: 'del', ...lease, expiresAtMs: 0 }],
  ['', undefined],
  ['add 02:00:00:00:00:01 192.0.2', undefined],
  ['add 02:00:00:00:00:01 192.0.2.7 1700000000', undefined],
  ['add 02:00:00:00:00:01 192.0.2.7\n', undefined],
  ['add 20-02:00:00:00:00:01 192.0.2.7 1700000000\n', undefined],
  ['add 02:00:00:00:00:01 2001:db8::1 1700000000\n', undefined],
  ['tftp 02:00:00:00:00:01 192.0.2.7 1700000000\n', undefined],
  ['add 02:00:00:00:00:01 192.0.2.7 1\nadd 02:00:00:00:00:02 192.0.2.8 1\n', undefined],
] as const) {
  test(`the file ${JSON.stringify(text)} contains ${expected === undefined ? 'no event' : `the lease of ${expected.ip}`}`, () =>
    assert.deepEqual(leaseEventOf(text), expected));
}

test('existing files are known at the start, and a repeated event is ignored', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'metal-leases-'));
  try {
    const write = (ip: string, text: string) => writeFileSync(join(directory, ip), `${text}\n`);
    write('192.0.2.7', 'add 02:00:00:00:00:01 192.0.2.7 100');
    write('192.0.2.8', 'add 02:00:00:00:00:02 192.0.2.8 100');
    const received: string[] = [];
    const all = Promise.withResolvers<void>();
    const onEvent = ({ event, ip, expiresAtMs }: LeaseEvent) => {
      received.push(`${event} ${ip} ${expiresAtMs}`);
      if (ip === '192.0.2.9') all.resolve();
    };
    using events = new LeaseEvents({ directory, onEvent, log: pino({ level: 'silent' }) });
    const known = await events.readKnown();
    assert.deepEqual(known.map(({ ip }) => ip).toSorted(), ['192.0.2.7', '192.0.2.8']);
    write('192.0.2.7', 'old 02:00:00:00:00:01 192.0.2.7 100');
    write('192.0.2.8', 'old 02:00:00:00:00:02 192.0.2.8 200');
    write('192.0.2.9', 'add 02:00:00:00:00:03 192.0.2.9 200');
    await all.promise;
    assert.deepEqual(received, ['old 192.0.2.8 200000', 'add 192.0.2.9 200000']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('an ended lease is not counted', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'metal-leases-'));
  try {
    writeFileSync(join(directory, '192.0.2.7'), 'add 02:00:00:00:00:01 192.0.2.7 100\n');
    writeFileSync(join(directory, '192.0.2.8'), 'old 02:00:00:00:00:02 192.0.2.8 100\n');
    writeFileSync(join(directory, '192.0.2.9'), 'del 02:00:00:00:00:03 192.0.2.9 0\n');
    using events = new LeaseEvents({ directory, onEvent: () => undefined, log: pino({ level: 'silent' }) });
    assert.equal((await events.readKnown()).length, 3);
    assert.equal(events.leases, 2);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

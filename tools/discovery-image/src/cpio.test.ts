import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from './archive-entries.ts';
import { cpio } from './cpio.ts';

const entries: Entry[] = [
  { path: 'sbin/modprobe', type: 'link', target: '/bin/busybox' },
  { path: 'init', type: 'file', executable: true, content: Buffer.from('#!/bin/sh\n') },
  { path: 'etc/a/name', type: 'file', executable: false, content: Buffer.from('x') },
];

/** Names, modes and contents, parsed as by the kernel. */
function membersOf(archive: Buffer): [string, string, string][] {
  const found: [string, string, string][] = [];
  for (let offset = 0; ; ) {
    const field = (position: number) =>
      Number.parseInt(archive.toString('latin1', offset + 6 + position * 8, offset + 14 + position * 8), 16);
    const [mode, size, nameSize] = [field(1), field(6), field(11)];
    const name = archive.toString('latin1', offset + 110, offset + 110 + nameSize - 1);
    const start = roundUp(offset + 110 + nameSize);
    if (name === 'TRAILER!!!') return found;
    found.push([name, mode.toString(8), archive.toString('latin1', start, start + size)]);
    offset = roundUp(start + size);
  }
}
const roundUp = (offset: number): number => Math.ceil(offset / 4) * 4;

test('an archive has its entries sorted, with the directories that they need', () => {
  assert.deepEqual(membersOf(cpio(entries)), [
    ['etc', '40755', ''],
    ['etc/a', '40755', ''],
    ['etc/a/name', '100644', 'x'],
    ['init', '100755', '#!/bin/sh\n'],
    ['sbin', '40755', ''],
    ['sbin/modprobe', '120777', '/bin/busybox'],
  ]);
});

test('the same entries in any order yield the same bytes', () => {
  assert.deepEqual(cpio(entries.toReversed()), cpio(entries));
});

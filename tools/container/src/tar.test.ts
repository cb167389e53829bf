import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { Entry } from '@metal/discovery-image/archive-entries.ts';
import { tar } from './tar.ts';

const entries: Entry[] = [
  { path: 'tmp', type: 'directory', mode: 0o1777 },
  { path: 'bin/sh', type: 'link', target: 'dash' },
  { path: 'bin/dash', type: 'file', executable: true, content: Buffer.alloc(600) },
  { path: 'etc/passwd', type: 'file', executable: false, content: Buffer.from('x') },
];

test('tar reads the archive: sorted, owned by root, of 1970, with the directories that it needs', () => {
  const environment = { ...process.env, TZ: 'UTC', LC_ALL: 'C' };
  const list = execFileSync('tar', ['-tvf', '-', '--numeric-owner'], { input: tar(entries), env: environment });
  assert.deepEqual(
    list
      .toString()
      .trim()
      .split('\n')
      .map((line) => line.replace(/ +/g, ' ')),
    [
      'drwxr-xr-x 0/0 0 1970-01-01 00:00 bin/',
      '-rwxr-xr-x 0/0 600 1970-01-01 00:00 bin/dash',
      'lrwxrwxrwx 0/0 0 1970-01-01 00:00 bin/sh -> dash',
      'drwxr-xr-x 0/0 0 1970-01-01 00:00 etc/',
      '-rw-r--r-- 0/0 1 1970-01-01 00:00 etc/passwd',
      'drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/',
    ],
  );
});

test('the same entries in any order yield the same bytes', () => {
  assert.deepEqual(tar(entries.toReversed()), tar(entries));
});

test('a path that the format has no room for is refused', () => {
  assert.throws(() => tar([{ path: 'x'.repeat(101), type: 'directory' }]), /longer than 100 bytes/);
});

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { RecordFiles } from './record-files.ts';

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'metal-records-'));
  try {
    await run(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const contentOf = (directory: string) =>
  Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]));

test('a directory comes to hold just what is wanted, and says when something is to be forgotten', () =>
  inDirectory(async (directory) => {
    const files = new RecordFiles(directory);
    const steps = [
      [{ a: '1', b: '1' }, false],
      [{ a: '1', b: '1', c: '1' }, false],
      [{ a: '2', b: '1', c: '1' }, true],
      [{ a: '2' }, true],
      [{ a: '2' }, false],
    ] as const;
    for (const [wanted, forgets] of steps) {
      assert.deepEqual(await files.write(new Map(Object.entries(wanted))), { forgets });
      assert.deepEqual(contentOf(directory), wanted);
    }
  }));

test('what an earlier process left behind is removed', () =>
  inDirectory(async (directory) => {
    writeFileSync(join(directory, 'old'), 'old');
    writeFileSync(join(directory, '.half'), 'half');
    assert.deepEqual(await new RecordFiles(directory).write(new Map([['new', 'new']])), { forgets: true });
    assert.deepEqual(contentOf(directory), { new: 'new' });
  }));

test('a file that stays the same is not written again, or dnsmasq would read it again', () =>
  inDirectory(async (directory) => {
    const files = new RecordFiles(directory);
    await files.write(new Map([['a', '1']]));
    const before = statSync(join(directory, 'a'), { bigint: true });
    await files.write(new Map([['a', '1']]));
    assert.equal(statSync(join(directory, 'a'), { bigint: true }).ino, before.ino);
  }));

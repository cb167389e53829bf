import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

test('files are added, replaced and removed, other files stay, and a removal calls onForget', () =>
  inDirectory(async (directory) => {
    let forgotten = 0;
    const files = new RecordFiles(directory, () => (forgotten += 1));
    const steps = [
      [{ a: '1', b: '1' }, { a: '1', b: '1' }, 0],
      [{ c: '1', d: undefined }, { a: '1', b: '1', c: '1' }, 0],
      [{ a: '2' }, { a: '2', b: '1', c: '1' }, 0],
      [{ b: undefined, c: undefined }, { a: '2' }, 2],
      [{ a: '2', b: undefined }, { a: '2' }, 2],
    ] as const;
    for (const [changes, content, times] of steps) {
      await files.change(new Map(Object.entries(changes)));
      assert.deepEqual(contentOf(directory), content);
      assert.equal(forgotten, times);
    }
  }));

test('files of an earlier process are known and can be removed', () =>
  inDirectory(async (directory) => {
    writeFileSync(join(directory, 'old'), 'old');
    writeFileSync(join(directory, '.half'), 'half');
    let forgotten = 0;
    const files = new RecordFiles(directory, () => (forgotten += 1));
    assert.deepEqual((await files.names()).toSorted(), ['.half', 'old']);
    const leftovers: [string, undefined][] = (await files.names()).map((name) => [name, undefined]);
    await files.change(new Map<string, string | undefined>([...leftovers, ['new', 'new']]));
    assert.deepEqual([contentOf(directory), forgotten], [{ new: 'new' }, 2]);
  }));

test('a removal calls onForget also if a later write fails', () =>
  inDirectory(async (directory) => {
    let forgotten = 0;
    const files = new RecordFiles(directory, () => (forgotten += 1));
    await files.change(new Map([['a', '1']]));
    // A directory in the place of the file: it cannot be written.
    mkdirSync(join(directory, 'b'));
    await assert.rejects(
      files.change(
        new Map([
          ['a', undefined],
          ['b', '1'],
        ]),
      ),
    );
    assert.equal(forgotten, 1);
  }));

test('an unchanged file is not written again', () =>
  inDirectory(async (directory) => {
    const files = new RecordFiles(directory, () => undefined);
    await files.change(new Map([['a', '1']]));
    const before = statSync(join(directory, 'a'), { bigint: true });
    await files.change(new Map([['a', '1']]));
    assert.equal(statSync(join(directory, 'a'), { bigint: true }).ino, before.ino);
  }));

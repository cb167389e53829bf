import assert from 'node:assert/strict';
import { mkdir, mkdtempDisposable, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { bringUpToDate, findStale } from './generated-folder.ts';

const folder = {
  path: 'out',
  files: [
    { name: 'a', text: 'A' },
    { name: 'b', text: 'B' },
  ],
};

test('missing, different and no longer generated files are stale until they are written', async () => {
  await using root = await mkdtempDisposable(join(tmpdir(), 'generate-'));
  await mkdir(join(root.path, 'out', 'kept-folder'), { recursive: true });
  await writeFile(join(root.path, 'out', 'a'), 'old');
  await writeFile(join(root.path, 'out', 'z'), 'no longer generated');

  assert.deepEqual(await findStale(root.path, [folder]), ['out/a', 'out/b', 'out/z']);
  assert.deepEqual(await bringUpToDate(root.path, [folder]), ['out/a', 'out/b', 'out/z']);
  assert.deepEqual(await findStale(root.path, [folder]), []);
  assert.deepEqual((await readdir(join(root.path, 'out'))).toSorted(), ['a', 'b', 'kept-folder']);
});

test('all files of a missing folder are stale, and the check does not create it', async () => {
  await using root = await mkdtempDisposable(join(tmpdir(), 'generate-'));
  assert.deepEqual(await findStale(root.path, [folder]), ['out/a', 'out/b']);
  assert.deepEqual(await readdir(root.path), []);
});

test('other files in a shared folder stay', async () => {
  await using root = await mkdtempDisposable(join(tmpdir(), 'generate-'));
  await mkdir(join(root.path, 'out'), { recursive: true });
  await writeFile(join(root.path, 'out', 'z'), 'written by hand');
  assert.deepEqual(await bringUpToDate(root.path, [{ ...folder, isShared: true }]), ['out/a', 'out/b']);
  assert.deepEqual((await readdir(join(root.path, 'out'))).toSorted(), ['a', 'b', 'z']);
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { markRun } from './leftovers.ts';

test('files and processes that a run leaves are listed, and removed when it is disposed', async () => {
  const run = await markRun({ PATH: process.env.PATH });
  const directory = run.environment.TMPDIR ?? '';
  assert.deepEqual(await run.leftovers(), { files: [], processes: [] });

  await writeFile(join(directory, 'forgotten'), '');
  const child = spawn('/bin/sh', ['-c', 'echo up; read -r _'], {
    env: run.environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  const { files, processes } = await run.leftovers();
  assert.deepEqual(files, ['forgotten']);
  assert.deepEqual(
    processes.map(({ pid }) => pid),
    [child.pid],
  );

  const ended = once(child, 'exit');
  await run[Symbol.asyncDispose]();
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.equal(existsSync(directory), false);
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const preload = new URL('end-in-time.ts?graceMs=100', import.meta.url).href;

function runFile(body: string): { status: number | null; stdout: string } {
  const directory = mkdtempSync(join(tmpdir(), 'metal-end-in-time-'));
  const file = join(directory, 'a.test.mjs');
  writeFileSync(file, `import { test } from 'node:test';\nimport { createServer } from 'node:http';\n${body}\n`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    return spawnSync(process.execPath, ['--test', `--import=${preload}`, file], { env, encoding: 'utf8' });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('a file with active resources after its tests fails and lists them', () => {
  const { status, stdout } = runFile("test('passes', () => void createServer().listen(0));");
  assert.equal(status, 1);
  assert.match(stdout, /keep it alive: .*TCPServerWrap/);
});

test('a file that exits after its tests passes', () => {
  assert.equal(runFile("test('passes', () => undefined);").status, 0);
});

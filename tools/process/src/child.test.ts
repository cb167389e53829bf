import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Child } from './child.ts';

test('a program that is ended at any moment of its start ends', { timeout: 60_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'metal-child-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const program = { name: 'sleeper', command: '/bin/sleep', args: ['120'], directory, logFile: join(directory, 'log') };
  for (let afterMs = 0; afterMs < 8; afterMs += 0.1) {
    const child = new Child(program);
    // Busy rather than asleep: the moments that matter lie closer together than a timer can tell.
    for (const end = performance.now() + afterMs; performance.now() < end; );
    await (Math.round(afterMs * 10) % 2 === 0 ? child.kill() : child.stop());
    assert.equal(child.running, false);
  }
});

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Child } from './child.ts';

/** Delays after the start, in steps of 0.1 ms, or of 0.5 ms with few seeds. */
const delayCount = Number(process.env.METAL_SEEDS ?? 20) < 20 ? 16 : 80;
const killDelaysMs = Array.from({ length: delayCount }, (_, index) => (index * 8) / delayCount);

test('a program that is ended at any moment of its start ends', { timeout: 60_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'metal-child-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const program = { name: 'sleeper', command: '/bin/sleep', args: ['120'], directory, logFile: join(directory, 'log') };
  for (const [index, afterMs] of killDelaysMs.entries()) {
    const child = new Child(program);
    // A busy loop, because a timer is not precise enough.
    for (const end = performance.now() + afterMs; performance.now() < end; );
    await (index % 2 === 0 ? child.kill() : child.stop());
    assert.equal(child.running, false);
  }
});

test('a channel is open in the program, and its close by the program is observed', {
  timeout: 60_000,
}, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'metal-child-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const script = 'read word <&4; echo "heard $word" >&3; exec 3>&-; exec sleep 120';
  const args = ['-c', script];
  const child = new Child({
    name: 'talker',
    command: '/bin/sh',
    args,
    directory,
    logFile: join(directory, 'log'),
    channels: 2,
  });
  const [fromChild, toChild] = child.channels;
  assert.ok(fromChild !== undefined && toChild !== undefined);
  toChild.write('hello\n');
  let text = '';
  for await (const chunk of fromChild) text += String(chunk);
  assert.equal(text, 'heard hello\n');
  assert.equal(child.running, true);
  await child.kill();
});

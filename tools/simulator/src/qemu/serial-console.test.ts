import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SerialConsole } from './serial-console.ts';

test('lines are as displayed, in any chunks', async () => {
  const console = new SerialConsole();
  const lines: string[] = [];
  using _lines = console.onLine((line) => lines.push(line));
  for (const piece of [
    '\u001B[2J\u001B[=3h\u001B[1mSea',
    'BIOS\r',
    '\nPress Ctrl-B...\b\b\b \b',
    '\r\nwait\rnow',
    '\r\nope',
  ])
    console.write(piece);
  assert.deepEqual(lines, ['SeaBIOS', 'Press Ctrl-B', 'now']);
  assert.deepEqual(console.last(2), ['now', 'ope']);
  assert.equal(await console.waitForLine(/^Sea/, AbortSignal.timeout(1)), 'SeaBIOS');
});

test('a pending wait for a line resolves with the line, or rejects with the reason', async () => {
  const console = new SerialConsole();
  const matched = console.waitForLine(/login:/, AbortSignal.timeout(60_000));
  console.write('a\nlogin: \n');
  assert.equal(await matched, 'login:');
  const ended = new AbortController();
  const never = console.waitForLine(/never/, ended.signal);
  ended.abort(new Error('enough'));
  await assert.rejects(never, /enough/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTool } from './run-tool.ts';

const { signal } = new AbortController();

test('a program resolves with its output', async () => {
  assert.equal(await runTool('sh', ['-c', 'echo yes; echo no >&2'], signal), 'yes\n');
});

const failures: [string, string, string[], RegExp][] = [
  ['its error output on one line', 'sh', ['-c', 'echo one >&2; echo two >&2; exit 1'], /^sh: one two$/],
  ['its output if there is no error output', 'sh', ['-c', 'echo said; exit 1'], /^sh: said$/],
  ['ENOENT if it does not exist', 'no-such-program', [], /^no-such-program: .*ENOENT/],
];
for (const [title, program, parameters, message] of failures) {
  test(`a program that fails rejects with ${title}`, async () => {
    await assert.rejects(runTool(program, parameters, signal), { message });
  });
}

test('a program ends with its signal', async () => {
  const stop = new AbortController();
  const running = runTool('cat', [], stop.signal);
  stop.abort();
  await assert.rejects(running);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeParts, runParts, type TestPart } from './test-parts.ts';
import { describeSummary } from './test-summary.ts';

const summary = { tests: 2, suites: 0, pass: 2, fail: 0, cancelled: 0, skipped: 0, todo: 0 };

const part = (name: string, script: string, isHeld = false): TestPart => ({
  name,
  command: [process.execPath, '-e', script],
  isHeld,
  processorMs: () => 1_500,
});
const printing = (text: string): string => `process.stdout.write(${JSON.stringify(text)})`;

test('a part that fails ends neither the next part nor the one beside it', async () => {
  const lists = [
    [part('check', 'process.exitCode = 3'), part('tests', printing(describeSummary(summary, 1)))],
    [part('e2e', printing('nothing'), true)],
  ];
  const results = await runParts(lists, () => undefined);
  assert.deepEqual(
    results.map(({ name, code, summary: found }) => [name, code, found]),
    [
      ['check', 3, undefined],
      ['tests', 0, summary],
      ['e2e', 0, undefined],
    ],
  );
});

test('the output of a held part is printed at once, when it has ended', async () => {
  const texts: string[] = [];
  const twice = `${printing('a')}; setImmediate(() => ${printing('b')})`;
  await runParts([[part('e2e', twice, true)]], (text) => texts.push(text));
  assert.deepEqual(texts, ['ab']);
});

test('a program that does not exist is a failed part', async () => {
  const missing = { ...part('tests', ''), command: ['/nonexistent'] };
  const [result] = await runParts([[missing]], () => undefined);
  assert.equal(result?.code, 1);
});

test('the table of parts is aligned', () => {
  const rows = [
    { name: 'tests', code: 0, wallMs: 375_000, processorMs: 59_000, summary: undefined },
    { name: 'e2e', code: 2, wallMs: 1_000, processorMs: 60_000, summary: undefined },
  ];
  assert.deepEqual(describeParts(rows).split('\n'), [
    'part   wall time   processor time  result',
    'tests  6 min 15 s  59 s            passed',
    'e2e    1 s         1 min 0 s       failed with exit code 2',
  ]);
});

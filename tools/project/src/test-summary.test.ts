import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSummary, sumOf, summaryIn } from './test-summary.ts';

const one = { tests: 5, suites: 1, pass: 3, fail: 1, cancelled: 0, skipped: 1, todo: 0 };
const other = { tests: 2, suites: 0, pass: 1, fail: 0, cancelled: 1, skipped: 0, todo: 0 };
const none = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };

const outputs: Readonly<Record<string, readonly [output: string, expected: typeof one | undefined]>> = {
  'of a run': [`✔ a test (1.5ms)\n${describeSummary(one, 12.5)}\n`, one],
  'with failures after it': [`${describeSummary(one, 12.5)}\n\n✖ failing tests:\n\ntest at a.ts:1\n`, one],
  'after that of another run': [`${describeSummary(other, 1)}\n${describeSummary(one, 1)}\n`, one],
  'that is cut off': ['ℹ tests 5\nℹ suites 1\n', undefined],
  'of a run that did not start': ['run-tests: the control plane did not start\n', undefined],
};
for (const [title, [output, expected]] of Object.entries(outputs))
  test(`the summary ${title} is ${expected === undefined ? 'missing' : 'found'}`, () =>
    assert.deepEqual(summaryIn(output), expected));

const sums = [
  ['no run', [], none],
  ['one run', [one], one],
  ['two runs', [one, other], { tests: 7, suites: 1, pass: 4, fail: 1, cancelled: 1, skipped: 1, todo: 0 }],
] as const;
for (const [title, summaries, expected] of sums)
  test(`the sum of ${title} has each count of node:test`, () => assert.deepEqual(sumOf(summaries), expected));

test('a summary is printed as by node:test', () =>
  assert.equal(
    describeSummary(one, 12.5),
    'ℹ tests 5\nℹ suites 1\nℹ pass 3\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\nℹ duration_ms 12.5',
  ));

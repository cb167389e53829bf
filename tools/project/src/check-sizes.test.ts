import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareWithExceptions } from './check-sizes.ts';

const file = { file: 'packages/a/src/a.ts', line: 251, message: 'File has too many lines.', functionName: '' };
const run = { file: 'packages/a/src/b.ts', line: 7, message: 'Function has too many lines.', functionName: 'run' };

test('a file and a function that are too large are violations', () => {
  assert.deepEqual(
    compareWithExceptions([file, run], {}).map(({ file: path, line }) => `${path}:${line}`),
    ['packages/a/src/a.ts:251', 'packages/a/src/b.ts:7'],
  );
});

test('an exception covers one file or one function', () => {
  assert.deepEqual(compareWithExceptions([file, run], { [file.file]: 'a table', [`${run.file}#run`]: 'a list' }), []);
  assert.equal(compareWithExceptions([run], { [run.file]: 'a table' }).length, 2);
});

test('an exception that is no longer needed is a violation', () => {
  const [violation] = compareWithExceptions([], { [file.file]: 'to be split' });
  assert.match(violation?.message ?? '', /names packages\/a\/src\/a\.ts, which is small enough/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTestOnlyFiles } from './test-code.ts';

const main = 'services/operator/src/main.ts';

const rows: readonly (readonly [
  title: string,
  imports: Record<string, readonly string[]>,
  found: readonly string[],
])[] = [
  [
    'a file that an entry point imports through others is part of the product',
    {
      [main]: ['services/operator/src/a.ts'],
      'services/operator/src/a.ts': ['packages/kube/src/b.ts'],
      'packages/kube/src/b.ts': [],
    },
    [],
  ],
  [
    'a file that only tests import is found, with what only it imports',
    {
      [main]: [],
      'services/operator/src/a.test.ts': ['services/operator/src/a.rows.ts'],
      'services/operator/src/a.rows.ts': ['services/operator/src/b.ts'],
      'services/operator/src/b.ts': [],
    },
    ['services/operator/src/a.rows.ts', 'services/operator/src/b.ts'],
  ],
  [
    'a file that only a benchmark, a test folder or the test environment imports is found',
    {
      [main]: [],
      'tools/bench/src/a.ts': ['packages/kube/src/a.ts'],
      'packages/kube/test/b.ts': ['packages/kube/src/b.ts'],
      'test/testenv/src/c.ts': ['packages/kube/src/c.ts'],
      'packages/kube/src/a.ts': [],
      'packages/kube/src/b.ts': [],
      'packages/kube/src/c.ts': [],
    },
    ['packages/kube/src/a.ts', 'packages/kube/src/b.ts', 'packages/kube/src/c.ts'],
  ],
  [
    'a file that a tool imports is part of the product',
    { [main]: [], 'tools/simulator/src/a.ts': ['packages/api/src/a.ts'], 'packages/api/src/a.ts': [] },
    [],
  ],
  ['a file that nothing imports is found', { [main]: [], 'packages/kube/src/a.ts': [] }, ['packages/kube/src/a.ts']],
  ['an entry point that does not exist is found', {}, ['boundaries.json']],
  [
    'an entry point that the product imports is found',
    { [main]: [], 'tools/project/src/a.ts': [main] },
    ['boundaries.json'],
  ],
];

for (const [title, imports, found] of rows) {
  test(title, () => {
    assert.deepEqual(
      findTestOnlyFiles(new Map(Object.entries(imports)), [main]).map(({ file }) => file),
      found,
    );
  });
}

test('the message has the remedy', () => {
  const [violation] = findTestOnlyFiles(new Map([['packages/kube/src/a.ts', []]]), []);
  assert.match(
    violation?.message ?? '',
    /is used only by tests; move it to the folder test of its package, remove it, or/,
  );
});

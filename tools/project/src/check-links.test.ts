import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenLinksIn, missingSourcesIn } from './check-links.ts';

const files: Readonly<Record<string, string>> = {
  'README.md': '# Product\n',
  docs: '',
  'docs/a.md':
    '# Use of `x`, and more\n\n## Twice\n\n## Twice\n\n```\n# not a heading\n```\n\n| <a id="row"></a>`a` |\n',
};
const problems = (text: string) =>
  brokenLinksIn('docs/b.md', text, (path) => files[path]).map(({ line, message }) => `${line} ${message}`);

for (const link of [
  '../README.md',
  'a.md',
  '.',
  'a.md#use-of-x-and-more',
  'a.md#twice-1',
  'a.md#row',
  'https://example.com/x',
  'mailto:a@b',
]) {
  test(`a link to ${link} is accepted`, () => assert.deepEqual(problems(`see [text](${link})`), []));
}

test('a link to a file that does not exist is reported with its line', () => {
  assert.deepEqual(problems('a\n[b](../missing.md)'), ['2 links to ../missing.md: missing.md does not exist']);
});

test('a link to a heading that does not exist is reported', () => {
  for (const anchor of ['#twice-2', '#not-a-heading'])
    assert.deepEqual(problems(`[b](a.md${anchor})`), [`1 links to a.md${anchor}: docs/a.md has no heading ${anchor}`]);
});

test('a link definition is checked', () => {
  assert.equal(problems('[b]: missing.md').length, 1);
});

test('a link to a heading of the same file is checked', () => {
  assert.deepEqual(
    brokenLinksIn('docs/a.md', `${files['docs/a.md']}[b](#twice)`, (path) => files[path]),
    [],
  );
});

test('text in code spans and fenced blocks is not a link', () => {
  assert.deepEqual(problems('`[a-z](x)` and ``[`](y)``\n\n```\n[a](b)\n```\n'), []);
});

test('a code span that names no source file is reported', () => {
  const sources = ['services/operator/src/server/table.ts'];
  assert.deepEqual(missingSourcesIn('a.md', '`table.ts` and `server/table.ts`', sources), []);
  assert.deepEqual(
    missingSourcesIn('a.md', 'x\n`claim/table.ts` or `able.ts`', sources).map(
      ({ line, message }) => `${line} ${message}`,
    ),
    ['2 names claim/table.ts, which does not exist', '2 names able.ts, which does not exist'],
  );
});

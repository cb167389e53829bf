import assert from 'node:assert/strict';
import { test } from 'node:test';
import { menuOf, sectionsOf, sidebarsOf } from './navigation.ts';

const index = `# Index

## Operate

| page | content |
|---|---|
| [Install](operate/install.md) | see [kinds](kinds/README.md) |
| [Boot](../services/boot/README.md), [site](https://example.com) | |

## Reference

| page | content |
|---|---|
| [Kinds](kinds/README.md) | |

## Notes

text
`;
const sections = sectionsOf(index, ['docs/README.md', 'docs/kinds/README.md', 'docs/kinds/b.md', 'docs/kinds/a.md']);

test('a section has the pages in the first column of its table', () => {
  assert.deepEqual(
    sections.map(({ title, entries }) => [title, ...entries.map(({ file }) => file)]),
    [
      ['Operate', 'docs/operate/install.md', 'services/boot/README.md'],
      ['Reference', 'docs/kinds/README.md'],
    ],
  );
});

test('the sidebar of a folder lists its pages, and no other sidebar does', () => {
  const sidebars = sidebarsOf(sections, (file) => file);
  assert.deepEqual(Object.keys(sidebars), ['/', '/kinds/']);
  const below = Object.values(sidebars).map((sidebar) => sidebar[1]?.items?.[0]?.items?.map(({ link }) => link));
  assert.deepEqual(below, [undefined, ['/kinds/a', '/kinds/b']]);
});

test('the menu leads to the first page of each section', () => {
  assert.deepEqual(menuOf(sections), [
    { text: 'Operate', link: '/operate/install' },
    { text: 'Reference', link: '/kinds/' },
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageText } from './page-text.ts';

const pages = ['docs/README.md', 'docs/operate/install.md', 'docs/states/README.md', 'services/boot/README.md'];
const page = (text: string) =>
  pageText('docs/operate/dhcp.md', text, (path) => pages.find((file) => file === path || file === `${path}/README.md`));

for (const [link, address] of [
  ['install.md#with-helm', './install.md#with-helm'],
  ['../README.md', '../index.md'],
  ['../states', '../states/index.md'],
  ['../../services/boot/README.md#images', '../services/boot/index.md#images'],
  ['../../deploy/prometheus/alerts.yaml', '/deploy/prometheus/alerts.yaml'],
  ['#boot-files', '#boot-files'],
  ['https://example.com/x.md', 'https://example.com/x.md'],
]) {
  test(`a link to ${link} becomes one to ${address}`, () =>
    assert.equal(page(`a [b](${link}) c`).text, `a [b](${address}) c`));
}

test('a link to a source file becomes text, and the links beside it stay', () => {
  const { text, files } = page('[a](install.md) [`b.ts`](../../services/b.ts) [c](install.md)');
  assert.equal(text, '[a](./install.md) `b.ts` [c](./install.md)');
  assert.deepEqual(files, []);
});

test('a picture is copied beside the page', () => {
  const { text, files } = page('![network](../network.svg)');
  assert.equal(text, '![network](../network.svg)');
  assert.deepEqual(files, ['docs/network.svg']);
});

test('a diagram of phases becomes a table', () => {
  const { text } = page('```mermaid\nstateDiagram-v2\n  [*] --> A\n  A --> B\n  A --> C\n  D\n```\n');
  assert.equal(text, '| Phase | May be followed by |\n| --- | --- |\n| (start) | A |\n| A | B, C |\n| D |  |\n');
});

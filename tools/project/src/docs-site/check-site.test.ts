import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOfPages } from './check-site.ts';

const problems = (html: string, base = '/') =>
  problemsOfPages({
    pages: new Map([
      ['a/b.html', html],
      ['a/index.html', '<h2 id="there">'],
    ]),
    paths: new Set(['a/b.html', 'a/index.html', 'x.yaml', 'p.svg']),
    base,
  });

for (const html of [
  '<a class="x" href="/a/">',
  '<a href="./#there">',
  '<a href="/a/index.html#there">',
  '<a href="../x.yaml">',
  '<a href="https://example.com/">',
  '<img alt="network" src="/p.svg">',
]) {
  test(`${html} has no problem`, () => assert.deepEqual(problems(html), []));
}

for (const [html, problem] of [
  ['<a href="/a/c.html">', 'links to /a/c.html, which does not exist'],
  ['<a href="/a/#gone">', 'links to /a/#gone: a/index.html has no such anchor'],
  ['<a href="#gone">', 'links to #gone: a/b.html has no such anchor'],
  ['<img src="/p.svg">', 'the image /p.svg has no text'],
  ['<script src="https://cdn.example/x.js">', 'loads https://cdn.example/x.js from another host'],
  ['<link rel="stylesheet" href="//fonts.example/x.css">', 'loads //fonts.example/x.css from another host'],
  ['open http://localhost:8080', 'names localhost, which is another host for each reader'],
]) {
  test(`${html} has a problem`, () => assert.deepEqual(problems(html ?? ''), [`a/b.html: ${problem}`]));
}

test('addresses begin with the base path', () => {
  assert.deepEqual(problems('<a href="/docs/a/"><img alt="x" src="/docs/p.svg">', '/docs/'), []);
});

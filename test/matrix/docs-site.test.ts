import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildSite } from '@metal/project/docs-site/build-site.ts';
import { findSiteProblems } from '@metal/project/docs-site/check-site.ts';

const root = join(import.meta.dirname, '../..');

test('the site is built, its links lead somewhere, and it loads nothing from other hosts', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'metal-docs-site-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const { site } = await buildSite({ root, directory, base: '/docs/' });
  assert.deepEqual(findSiteProblems(site, '/docs/'), []);
  const template = await readFile(join(site, 'operate/dns-records.html'), 'utf8');
  assert.match(template.replaceAll(/<[^>]*>/g, ''), /name: \{\{ \.Name \}\}/);
});

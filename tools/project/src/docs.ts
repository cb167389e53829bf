import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { buildSite } from './docs-site/build-site.ts';
import { findSiteProblems } from './docs-site/check-site.ts';

const root = join(import.meta.dirname, '../../..');

await new Command('make docs')
  .usage('[options], as ARGS="--base /docs/"')
  .description(
    'Builds the site of the documentation with VitePress, and checks links, anchors and images of the result.',
  )
  .option('--out <directory>', 'receives the site', join(root, '.docs'))
  .option('--base <path>', 'path under which the site is served', parseBase, '/')
  .action(main)
  .parseAsync();

function parseBase(path: string): string {
  if (!/^\/(?:.*\/)?$/.test(path)) throw new InvalidArgumentError('expected a slash at both ends, as in /docs/');
  return path;
}

async function main({ out, base }: { out: string; base: string }): Promise<void> {
  const startedAt = performance.now();
  const { site, pages } = await buildSite({ root, directory: out, base });
  const problems = findSiteProblems(site, base);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(`${site}: ${pages} pages, ${problems.length} problems, ${seconds} s\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

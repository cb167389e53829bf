import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lineAt } from './code-text.ts';
import { anchorsIn, hasScheme, linksIn, resolveLink } from './markdown-text.ts';
import { sourceFiles } from './source-files.ts';
import type { Violation } from './violation.ts';

/** Lists relative links in Markdown files whose file or heading does not exist, and source files that they name in vain. */
export function findBrokenLinks(root: string): Violation[] {
  const files = globSync('**/*.md', { cwd: root, exclude: (path) => path.includes('node_modules') });
  const read = (path: string) => (existsSync(join(root, path)) ? textAt(join(root, path)) : undefined);
  const sources = sourceFiles(root);
  return files.toSorted().flatMap((file) => {
    const text = read(file) ?? '';
    return [...brokenLinksIn(file, text, read), ...missingSourcesIn(file, text, sources)];
  });
}

/** Source files in code spans, as in `table.ts` or `server/table.ts`, that end no path of `sources`. */
export function missingSourcesIn(file: string, text: string, sources: readonly string[]): Violation[] {
  return [...text.matchAll(/`([\w./-]+\.ts)`/g)]
    .filter(([, name = '']) => !sources.some((source) => `/${source}`.endsWith(`/${name}`)))
    .map(({ index, 1: name }) => ({ file, line: lineAt(text, index), message: `names ${name}, which does not exist` }));
}

/** A folder is a link target without headings. */
const textAt = (path: string): string => (statSync(path).isDirectory() ? '' : readFileSync(path, 'utf8'));

/** The broken links of one file. `read` returns the text of a path relative to the root, undefined where nothing exists. */
export function brokenLinksIn(file: string, text: string, read: (path: string) => string | undefined): Violation[] {
  return linksIn(text).flatMap(({ target, index }) => {
    const problem = hasScheme(target) ? undefined : problemOf(file, target, read);
    return problem === undefined
      ? []
      : [{ file, line: lineAt(text, index), message: `links to ${target}: ${problem}` }];
  });
}

function problemOf(file: string, link: string, read: (path: string) => string | undefined): string | undefined {
  const { path: target, anchor } = resolveLink(file, link);
  const text = read(target);
  if (text === undefined) return `${target} does not exist`;
  if (anchor === undefined || !target.endsWith('.md') || anchorsIn(text).has(anchor)) return undefined;
  return `${target} has no heading #${anchor}`;
}

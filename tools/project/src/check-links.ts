import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Violation } from './check-boundaries.ts';
import { lineAt } from './code-text.ts';
import { sourceFiles } from './source-files.ts';

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
  return [...withoutCode(text).matchAll(/\]\(([^()\s]+)(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+(\S+)/gm)].flatMap((match) => {
    const link = match[1] ?? match[2] ?? '';
    const problem = /^[a-z][a-z\d+.-]*:/i.test(link) ? undefined : problemOf(file, link, read);
    return problem === undefined
      ? []
      : [{ file, line: lineAt(text, match.index), message: `links to ${link}: ${problem}` }];
  });
}

function problemOf(file: string, link: string, read: (path: string) => string | undefined): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : relative('/', resolve('/', dirname(file), decodeURIComponent(path)));
  const text = read(target);
  if (text === undefined) return `${target} does not exist`;
  if (anchor === undefined || !target.endsWith('.md') || anchorsIn(text).has(anchor)) return undefined;
  return `${target} has no heading #${anchor}`;
}

/** Fenced blocks and code spans become blanks. */
const withoutCode = (text: string): string =>
  text.replaceAll(/^( *)(`{3,}|~{3,})[\s\S]*?^ *\2|(`+)(?!`)[\s\S]*?(?<!`)\3(?!`)/gm, (code) =>
    code.replaceAll(/[^\n]/g, ' '),
  );

/** Anchors of the headings, as GitHub derives them: lower case, without punctuation, numbered if they occur again. */
function anchorsIn(text: string): Set<string> {
  const anchors = new Set<string>();
  const fenceless = text.replaceAll(/^( *)(`{3,}|~{3,})[\s\S]*?^ *\2/gm, '');
  for (const [, heading = ''] of fenceless.matchAll(/^#{1,6} +(.*?)(?: +#+)?$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasScheme, linksIn, resolveLink } from '../markdown-text.ts';

export const indexFile = 'docs/README.md';

/** The Markdown files of the site with their texts, by path in the repository: all that links lead to from the index. */
export function findPages(root: string): Map<string, string> {
  const pages = new Map<string, string>();
  const add = (file: string): void => {
    if (pages.has(file)) return;
    const text = readFileSync(join(root, file), 'utf8');
    pages.set(file, text);
    for (const { target } of linksIn(text)) {
      if (hasScheme(target)) continue;
      const page = pageBehind(root, resolveLink(file, target).path);
      if (page !== undefined) add(page);
    }
  };
  add(indexFile);
  return pages;
}

/** The page that a path leads to, if any; the page of a folder is its README. */
export function pageBehind(root: string, path: string): string | undefined {
  const file = path.endsWith('.md') ? path : join(path, 'README.md');
  return existsSync(join(root, file)) ? file : undefined;
}

/** The path of a page in the site: pages of `docs` at the top, others as in the repository. */
export function pagePathOf(file: string): string {
  if (file === 'README.md') return 'readme.md';
  return file.replace(/^docs\//, '').replace(/README\.md$/, 'index.md');
}

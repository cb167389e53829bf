import { dirname, relative } from 'node:path/posix';
import { hasScheme, linksIn, resolveLink } from '../markdown-text.ts';
import { pagePathOf } from './pages.ts';

export interface Page {
  readonly text: string;
  /** Files of the repository that the page shows or offers. */
  readonly files: readonly string[];
}

/** Text of a page with the links of the site. `pageBehind` returns the page that a path of the repository leads to. */
export function pageText(file: string, text: string, pageBehind: (path: string) => string | undefined): Page {
  const files: string[] = [];
  let result = text;
  // From the end, so that the positions of the other links stay valid.
  for (const { target, index } of linksIn(text).toReversed()) {
    if (hasScheme(target) || target.startsWith('#')) continue;
    const { path, anchor } = resolveLink(file, target);
    const page = pageBehind(path);
    if (page === undefined && !isOffered(path)) {
      result = withoutLink(result, index, target.length);
      continue;
    }
    if (page === undefined) files.push(path);
    const address = page === undefined ? addressOfFile(file, path) : relativeTo(file, pagePathOf(page));
    const link = anchor === undefined ? address : `${address}#${anchor}`;
    result = result.slice(0, index) + link + result.slice(index + target.length);
  }
  return { text: withoutDiagrams(result), files };
}

/** Manifests and pictures are part of the site, sources are not. */
const isOffered = (path: string): boolean => /\.(?:ya?ml|json|svg|png)$/.test(path);

/** A picture is beside its page, as VitePress expects it; any other file is copied as it is. */
const addressOfFile = (file: string, path: string): string =>
  /\.(?:svg|png)$/.test(path) ? relativeTo(file, pagePathOf(path)) : `/${path}`;

function relativeTo(file: string, path: string): string {
  const address = relative(dirname(pagePathOf(file)), path);
  return address.startsWith('.') ? address : `./${address}`;
}

/** `[text](target)` becomes `text`. */
function withoutLink(text: string, index: number, length: number): string {
  const start = text.lastIndexOf('[', index);
  return text.slice(0, start) + text.slice(start + 1, index - 2) + text.slice(index + length + 1);
}

/** Diagrams of phases become tables: a library that draws them is larger than the site. */
const withoutDiagrams = (text: string): string =>
  text.replaceAll(/^```mermaid\nstateDiagram-v2\n([\s\S]*?)^```$/gm, (_, lines: string) => phaseTable(lines));

function phaseTable(lines: string): string {
  const next = new Map<string, string[]>();
  for (const line of lines.trim().split('\n')) {
    const [from = '', to] = line.trim().split(' --> ');
    const following = next.get(from) ?? [];
    next.set(from, to === undefined ? following : [...following, to]);
  }
  const rows = [...next].map(([from, to]) => `| ${from === '[*]' ? '(start)' : from} | ${to.join(', ')} |`);
  return ['| Phase | May be followed by |', '| --- | --- |', ...rows].join('\n');
}

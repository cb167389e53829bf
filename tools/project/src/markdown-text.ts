import { dirname, relative, resolve } from 'node:path';

/** A link of a Markdown text: its target, with the position of the target in the text. */
export interface Link {
  readonly target: string;
  readonly index: number;
}

/** Links, images and link definitions outside of code. */
export const linksIn = (text: string): Link[] =>
  [...withoutCode(text).matchAll(/\]\(([^()\s]+)(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+(\S+)/dgm)].flatMap((match) => {
    const [start] = match.indices?.[1] ?? match.indices?.[2] ?? [];
    return start === undefined ? [] : [{ target: match[1] ?? match[2] ?? '', index: start }];
  });

/** True for `https://…`, `mailto:…` and the like. */
export const hasScheme = (target: string): boolean => /^[a-z][a-z\d+.-]*:/i.test(target);

/** Fenced blocks and code spans become blanks. */
const withoutCode = (text: string): string =>
  text.replaceAll(/^( *)(`{3,}|~{3,})[\s\S]*?^ *\2|(`+)(?!`)[\s\S]*?(?<!`)\3(?!`)/gm, (code) =>
    code.replaceAll(/[^\n]/g, ' '),
  );

/** The anchor of a heading, as GitHub derives it: lower case, without punctuation. */
export function anchorOf(heading: string): string {
  const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
}

/** Anchors of the headings, numbered if they occur again, and of `<a id="…">`. */
export function anchorsIn(text: string): Set<string> {
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id));
  const fenceless = text.replaceAll(/^( *)(`{3,}|~{3,})[\s\S]*?^ *\2/gm, '');
  for (const [, heading = ''] of fenceless.matchAll(/^#{1,6} +(.*?)(?: +#+)?$/gm)) {
    const anchor = anchorOf(heading);
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

/** The file that a relative link leads to, as a path from the root of the repository, and its anchor. */
export function resolveLink(file: string, target: string): { path: string; anchor: string | undefined } {
  const [path = '', anchor] = target.split('#');
  return { path: path === '' ? file : relative('/', resolve('/', dirname(file), decodeURIComponent(path))), anchor };
}

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path/posix';

export interface Site {
  /** HTML by path. */
  readonly pages: ReadonlyMap<string, string>;
  /** All files. */
  readonly paths: ReadonlySet<string>;
  /** The path under which the site is served. */
  readonly base: string;
}

/** Lists problems of built pages: links and anchors into nothing, resources of other hosts, images without text. */
export function findSiteProblems(directory: string, base: string): string[] {
  const paths = new Set(globSync('**/*', { cwd: directory }));
  const textsOf = (ending: string) =>
    [...paths]
      .filter((path) => path.endsWith(ending))
      .toSorted()
      .map((path) => [path, readFileSync(join(directory, path), 'utf8')] as const);
  return [
    ...problemsOfPages({ pages: new Map(textsOf('.html')), paths, base }),
    ...textsOf('.css').flatMap(([path, text]) => problemsOfStyle(path, text)),
  ];
}

export function problemsOfPages(site: Site): string[] {
  const ids = new Map([...site.pages].map(([path, html]) => [path, idsOf(html)]));
  return [...site.pages].flatMap(([page, html]) => {
    const tags = [...html.matchAll(/<(a|img|script|link|iframe|source)\b([^>]*)>/g)];
    return [
      ...tags.flatMap(([, tag = '', attributes = '']) => problemsOfTag(tag, attributes, { ...site, page, ids })),
      ...(/\blocalhost\b/.test(html) ? ['names localhost, which is another host for each reader'] : []),
    ].map((problem) => `${page}: ${problem}`);
  });
}

const idsOf = (html: string): Set<string> => new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id));

interface Place extends Site {
  readonly page: string;
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>;
}

function problemsOfTag(tag: string, attributes: string, place: Place): string[] {
  const address = attributeOf(attributes, tag === 'a' || tag === 'link' ? 'href' : 'src');
  const isNameless = tag === 'img' && (attributeOf(attributes, 'alt') ?? '') === '';
  const problem = address === undefined ? undefined : problemOfAddress(tag, address, place);
  return [...(isNameless ? [`the image ${address} has no text`] : []), ...(problem === undefined ? [] : [problem])];
}

const attributeOf = (attributes: string, name: string): string | undefined =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1]?.replaceAll('&amp;', '&');

function problemOfAddress(tag: string, address: string, place: Place): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(address))
    return tag === 'a' || address.startsWith('data:') ? undefined : `loads ${address} from another host`;
  const [path = '', anchor = ''] = decodeURIComponent(address).split('#');
  const target = path === '' ? place.page : fileBehind(path, place);
  if (!place.paths.has(target)) return `links to ${address}, which does not exist`;
  const ids = place.ids.get(target);
  return anchor === '' || ids === undefined || ids.has(anchor)
    ? undefined
    : `links to ${address}: ${target} has no such anchor`;
}

/** The file that a web server answers with. */
function fileBehind(path: string, { page, base }: Place): string {
  const absolute = resolve('/', path.startsWith(base) ? path.slice(base.length) : join(dirname(page), path));
  return absolute.slice(1) + (path.endsWith('/') ? `${absolute === '/' ? '' : '/'}index.html` : '');
}

const problemsOfStyle = (path: string, text: string): string[] =>
  [...text.matchAll(/(?:url\(\s*["']?|@import\s*["'])((?:https?:)?\/\/[^)"']*)/g)].map(
    ([, url]) => `${path}: loads ${url} from another host`,
  );

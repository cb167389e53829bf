import { dirname } from 'node:path/posix';
import { hasScheme, linksIn, resolveLink } from '../markdown-text.ts';
import { indexFile, pagePathOf } from './pages.ts';

export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

export interface Entry {
  readonly title: string;
  readonly file: string;
  /** Pages of the folder, if the entry is the README of a folder whose other pages no section names. */
  readonly below: readonly string[];
}

/** The sections of the index (`## …`) with the pages that the first column of their tables names. */
export function sectionsOf(index: string, files: readonly string[]): Section[] {
  const chapters = index.split(/^## /m).slice(1);
  const named = new Set(chapters.flatMap((chapter) => entriesOf(chapter).map(({ file }) => file)));
  return chapters
    .map((chapter) => ({
      title: chapter.slice(0, chapter.indexOf('\n')).trim(),
      entries: entriesOf(chapter).map((entry) => ({
        ...entry,
        below: files.filter((file) => isBelow(file, entry.file) && !named.has(file)).toSorted(),
      })),
    }))
    .filter(({ entries }) => entries.length > 0);
}

const entriesOf = (chapter: string): { title: string; file: string }[] =>
  [...chapter.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) =>
    linksIn(cell)
      .filter(({ target }) => !hasScheme(target))
      .map(({ target, index }) => ({
        title: cell.slice(cell.lastIndexOf('[', index) + 1, index - 2),
        file: resolveLink(indexFile, target).path,
      })),
  );

const isBelow = (file: string, readme: string): boolean =>
  readme.endsWith('README.md') && file !== readme && dirname(file) === dirname(readme);

/** The pages of a section and those below them. */
export const filesOf = ({ entries }: Section): string[] => entries.flatMap(({ file, below }) => [file, ...below]);

interface MenuItem {
  readonly text: string;
  readonly link: string;
}

export interface SidebarItem extends Partial<MenuItem> {
  readonly text: string;
  readonly items?: readonly SidebarItem[];
}

const linkTo = (file: string): string => `/${pagePathOf(file).replace(/\bindex\.md$|\.md$/, '')}`;

/** The sidebars by path. Pages below an entry are listed in their own folder only. `titleOf` returns the title of a page. */
export function sidebarsOf(
  sections: readonly Section[],
  titleOf: (file: string) => string,
): Readonly<Record<string, readonly SidebarItem[]>> {
  const folders = sections.flatMap(({ entries }) => entries.filter(({ below }) => below.length > 0));
  return Object.fromEntries(
    [undefined, ...folders].map((open) => [
      open === undefined ? '/' : linkTo(open.file),
      sections.map(({ title, entries }) => ({
        text: title,
        items: entries.map((entry) => ({
          text: entry.title,
          link: linkTo(entry.file),
          ...(entry === open
            ? { items: entry.below.map((file) => ({ text: titleOf(file), link: linkTo(file) })) }
            : {}),
        })),
      })),
    ]),
  );
}

/** The menu at the top: the first page of each section. */
export const menuOf = (sections: readonly Section[]): MenuItem[] =>
  sections.flatMap(({ title, entries: [first] }) =>
    first === undefined ? [] : [{ text: title, link: linkTo(first.file) }],
  );

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheDirectory } from '@metal/process/cache-directory.ts';
import { execute } from './execute.ts';
import { filesOf, menuOf, sectionsOf, sidebarsOf } from './navigation.ts';
import { findPages, indexFile, pageBehind, pagePathOf } from './pages.ts';
import { pageText } from './page-text.ts';
import type { SiteSettings } from './vitepress-config.ts';

export interface SiteOptions {
  /** The repository. */
  readonly root: string;
  /** Receives `site`, and `build` with what VitePress reads. */
  readonly directory: string;
  /** The path under which the site is served, with a slash at both ends. */
  readonly base: string;
}

/** Builds the site. Returns its directory and the number of its pages. */
export async function buildSite({ root, directory, base }: SiteOptions): Promise<{ site: string; pages: number }> {
  const source = join(root, 'tools/project/docs-site');
  const build = join(directory, 'build');
  const site = join(directory, 'site');
  for (const old of [build, site]) await rm(old, { recursive: true, force: true });
  const pages = findPages(root);
  await writePages(root, join(build, 'pages'), pages);
  await write(join(build, '.vitepress/config.js'), configText({ base, outDir: site, ...navigationOf(pages) }));
  await write(join(build, '.vitepress/theme/index.js'), themeText(join(source, 'style.css')));
  await symlink(join(await install(source), 'node_modules'), join(build, 'node_modules'));
  await execute(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build'], build);
  return { site, pages: pages.size };
}

function navigationOf(pages: ReadonlyMap<string, string>): Pick<SiteSettings, 'sidebar' | 'menu'> {
  const sections = sectionsOf(pages.get(indexFile) ?? '', [...pages.keys()]);
  const titleOf = (file: string): string => /^# (.*)$/m.exec(pages.get(file) ?? '')?.[1]?.replaceAll('`', '') ?? file;
  return { sidebar: sidebarsOf(sections, titleOf), menu: menuOf(sections) };
}

async function writePages(root: string, directory: string, pages: ReadonlyMap<string, string>): Promise<void> {
  const searched = new Set(
    sectionsOf(pages.get(indexFile) ?? '', [...pages.keys()])
      .filter(({ title }) => title !== 'Engineers')
      .flatMap(filesOf),
  );
  for (const [file, source] of pages) {
    const { text, files } = pageText(file, source, (path) => pageBehind(root, path));
    const matter = searched.has(file) || file === indexFile ? '' : '---\nsearch: false\n---\n';
    await write(join(directory, pagePathOf(file)), matter + text);
    for (const path of files) await write(join(directory, placeOf(path)), await readFile(join(root, path)));
  }
}

/** Pictures are beside the pages, other files are served as they are. */
const placeOf = (path: string): string => (/\.(?:svg|png)$/.test(path) ? pagePathOf(path) : join('public', path));

async function write(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

/** Its functions cannot be written as JSON, so VitePress reads the source of the configuration. */
const configText = (settings: SiteSettings): string => `
import { vitepressConfig } from ${JSON.stringify(join(import.meta.dirname, 'vitepress-config.ts'))};
export default vitepressConfig(${JSON.stringify(settings)});
`;

/** Without the fonts of the theme: those of the reader need no download. */
const themeText = (style: string): string => `
import theme from 'vitepress/theme-without-fonts';
import ${JSON.stringify(style)};
export default theme;
`;

/** Installs VitePress into the cache of the user, once per lock file; returns the directory. */
async function install(source: string): Promise<string> {
  const lock = await readFile(join(source, 'package-lock.json'));
  const name = `docs-site-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`;
  const directory = join(cacheDirectory(), name);
  if (existsSync(directory)) return directory;
  await mkdir(cacheDirectory(), { recursive: true });
  const unfinished = await mkdtemp(join(cacheDirectory(), 'docs-site-unfinished-'));
  for (const file of ['package.json', 'package-lock.json']) await cp(join(source, file), join(unfinished, file));
  await execute('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], unfinished);
  // Another process may have been faster.
  await rename(unfinished, directory).catch(() => rm(unfinished, { recursive: true }));
  return directory;
}

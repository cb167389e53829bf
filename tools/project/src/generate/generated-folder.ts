import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface GeneratedFile {
  readonly name: string;
  readonly text: string;
}

/** A folder of generated files. Other files in it are stale, unless it is shared. */
export interface GeneratedFolder {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly files: readonly GeneratedFile[];
  /** True if the folder also has files that are written by hand; these are ignored. */
  readonly isShared?: boolean;
}

/** Paths of files that are missing, different or no longer generated, in order. */
export async function findStale(root: string, folders: readonly GeneratedFolder[]): Promise<string[]> {
  const stale = await Promise.all(folders.map((folder) => staleIn(root, folder)));
  return stale.flat().toSorted();
}

/** Writes missing and different files, and removes those that are no longer generated. Returns their paths. */
export async function bringUpToDate(root: string, folders: readonly GeneratedFolder[]): Promise<string[]> {
  const touched: string[] = [];
  for (const folder of folders) {
    const stale = await staleIn(root, folder);
    await mkdir(join(root, folder.path), { recursive: true });
    for (const path of stale) await replace(root, path, folder);
    touched.push(...stale);
  }
  return touched.toSorted();
}

async function replace(root: string, path: string, folder: GeneratedFolder): Promise<void> {
  const file = folder.files.find(({ name }) => join(folder.path, name) === path);
  if (file === undefined) await rm(join(root, path));
  else await writeFile(join(root, path), file.text);
}

async function staleIn(root: string, { path, files, isShared = false }: GeneratedFolder): Promise<string[]> {
  const found = await filesIn(join(root, path));
  const wanted = new Map(files.map(({ name, text }) => [name, text]));
  const leftOver = isShared ? [] : found.filter((name) => !wanted.has(name));
  const different: string[] = [];
  for (const [name, text] of wanted) {
    if (!found.includes(name) || (await readFile(join(root, path, name), 'utf8')) !== text) different.push(name);
  }
  return [...different, ...leftOver].map((name) => join(path, name));
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

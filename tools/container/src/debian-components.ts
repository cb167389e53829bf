import { lstat, mkdir, readFile, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Entry } from '@metal/discovery-image/archive-entries.ts';
import { ImageError } from '@metal/discovery-image/errors.ts';
import { type DebianPackage, fetchPackages, unpackPackages } from '@metal/discovery-image/packages.ts';
import { sharedLibraries } from '@metal/discovery-image/shared-libraries.ts';
import { cacheDirectory } from '@metal/process/cache-directory.ts';
import type { Component } from './component.ts';
import { loader, otherFiles, packages, programs, shell, type Variant } from './recipe.ts';

interface Unpacked extends DebianPackage {
  readonly root: string;
}

/** Unpacks each package into a directory of its own, so that the package of each file is known. */
export async function unpackDebian(locked: readonly DebianPackage[], scratch: string): Promise<Unpacked[]> {
  const paths = await fetchPackages(locked, join(cacheDirectory(), 'debian-packages'));
  return Promise.all(
    locked.map(async (found, index) => {
      const root = join(scratch, 'debian', found.name);
      await mkdir(root, { recursive: true });
      await unpackPackages(paths.slice(index, index + 1), root);
      return { ...found, root };
    }),
  );
}

/**
 * The files of the recipe, the libraries that they and `users` need, and the copyright file of each package. Without the rest:
 * documentation, locales, conversions of character sets.
 */
export async function debianComponents(
  variant: Variant,
  unpacked: readonly Unpacked[],
  users: readonly string[],
): Promise<Component[]> {
  const ownerOf = (path: string) => unpacked.find(({ root }) => path.startsWith(`${root}/`));
  const pathOf = (file: string) => {
    const owner = unpacked.find(({ name, root }) => packages[variant].includes(name) && filesOf.get(root)?.has(file));
    if (owner === undefined) throw new ImageError('RecipeIncomplete', `no package of the image has ${file}`);
    return join(owner.root, file);
  };
  const filesOf = new Map(
    await Promise.all(unpacked.map(async ({ root }) => [root, await existing(root, wantedFiles(variant))] as const)),
  );
  const ownPrograms = programs[variant].map(pathOf);
  const libraries = await sharedLibraries(
    [...users, ...ownPrograms],
    unpacked.map(({ root }) => root),
  );
  const files = [...new Set([...ownPrograms, ...otherFiles[variant].map(pathOf), ...libraries.values()])];
  const entriesOf = async (owner: Unpacked): Promise<Entry[]> => [
    ...(await Promise.all(files.filter((path) => ownerOf(path) === owner).map((path) => fileEntry(path, owner.root)))),
    ...(owner.name === 'libc6' ? [{ type: 'link' as const, ...loader }] : []),
    ...(owner.name === 'dash' ? [{ type: 'link' as const, ...shell }] : []),
    ...(await copyrightOf(owner)),
  ];
  const wanted = unpacked.filter(({ name }) => packages[variant].includes(name));
  return Promise.all(wanted.map(async (owner) => componentOf(owner, await entriesOf(owner))));
}

const wantedFiles = (variant: Variant): string[] => [...programs[variant], ...otherFiles[variant]];

async function existing(root: string, files: readonly string[]): Promise<Set<string>> {
  const found = await Promise.all(files.map((file) => lstat(join(root, file)).then(Boolean, () => false)));
  return new Set(files.filter((_, index) => found[index]));
}

async function fileEntry(path: string, root: string): Promise<Entry> {
  const inImage = relative(root, path);
  const executable = /(^|\/)s?bin\/|\/ld-linux/.test(inImage);
  return { path: inImage, type: 'file', executable, content: await readFile(path) };
}

/** The directory is a link where a source package has one text for all its libraries. */
async function copyrightOf({ name, root }: Unpacked): Promise<Entry[]> {
  const path = `usr/share/doc/${name}`;
  if ((await lstat(join(root, path))).isSymbolicLink())
    return [{ path, type: 'link', target: await readlink(join(root, path)) }];
  return [await fileEntry(join(root, path, 'copyright'), root)];
}

function componentOf({ name, version, sha256 }: DebianPackage, entries: readonly Entry[]): Component {
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=amd64&distro=debian-12`,
    licenses: licensesIn(entries, name),
    hash: { algorithm: 'SHA-256', content: sha256 },
    entries,
  };
}

/** Of a machine-readable copyright file (DEP 5); others are named. */
function licensesIn(entries: readonly Entry[], name: string): string[] {
  const file = entries.find((entry) => entry.path.endsWith('/copyright'));
  const text = file?.type === 'file' ? Buffer.from(file.content).toString('utf8') : '';
  const found = /^Format:/m.test(text) ? [...text.matchAll(/^License:[ \t]*(\S.*)$/gm)].map(([, id = '']) => id) : [];
  return found.length === 0 ? [`see /usr/share/doc/${name}/copyright`] : [...new Set(found)].toSorted();
}

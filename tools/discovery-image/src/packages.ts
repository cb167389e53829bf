import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ImageError } from './errors.ts';
import { kernelMetaPackage } from './recipe.ts';
import { tool } from './tool.ts';

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  readonly fileName: string;
}

/** The current dependency of the kernel meta package. */
export async function kernelPackage(): Promise<string> {
  const output = await runApt('apt-cache', ['depends', kernelMetaPackage]);
  const name = /^\s*Depends: (linux-image-\S+)$/m.exec(output)?.[1];
  if (name === undefined) throw new ImageError('PackagesUnknown', unknownTo(kernelMetaPackage));
  return name;
}

/** Version and digest of each package, from the verified package lists of apt. */
export async function resolvePackages(names: readonly string[]): Promise<DebianPackage[]> {
  return packagesIn(await runApt('apt-get', ['download', '--print-uris', ...names]));
}

/** @param uris Output of `apt-get download --print-uris`: URI, file name, size and digest. */
export function packagesIn(uris: string): DebianPackage[] {
  return [...uris.matchAll(/^'[^']*' (\S+) \d+ SHA256:([0-9a-f]{64})$/gm)]
    .map(([, fileName = '', sha256 = '']) => {
      const [name = '', version = ''] = fileName.split('_');
      return { name, version: decodeURIComponent(version), sha256, fileName };
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function runApt(program: string, parameters: readonly string[]): Promise<string> {
  try {
    return await tool(program, parameters);
  } catch (error) {
    if (error instanceof ImageError) throw error;
    const found = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new ImageError('PackagesUnknown', unknownTo(found), error);
  }
}

const unknownTo = (found: string): string =>
  `apt does not know the packages of the image: ${found}\nThe image is built from Debian 12 (bookworm) for amd64; fetch its lists with: apt-get update`;

/** Downloads missing packages into a directory of the user. @returns the paths of the packages. */
export async function fetchPackages(wanted: readonly DebianPackage[], directory: string): Promise<string[]> {
  await mkdir(directory, { recursive: true });
  const pathOf = ({ fileName, sha256 }: DebianPackage) => join(directory, `${sha256.slice(0, 16)}-${fileName}`);
  const missing = wanted.filter((found) => !existsSync(pathOf(found)));
  if (missing.length > 0) await download(missing, directory, pathOf);
  return wanted.map(pathOf);
}

async function download(
  missing: readonly DebianPackage[],
  directory: string,
  pathOf: (found: DebianPackage) => string,
): Promise<void> {
  const partial = await mkdtemp(join(directory, 'partial-'));
  try {
    await tool('apt-get', ['download', '-q', ...missing.map(({ name, version }) => `${name}=${version}`)], partial);
    for (const found of missing) {
      const path = join(partial, found.fileName);
      const digest = createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
      if (digest !== found.sha256)
        throw new ImageError('DownloadFailed', `${found.fileName} has another digest than in the package lists of apt`);
      await rename(path, pathOf(found));
    }
  } catch (error) {
    if (error instanceof ImageError) throw error;
    throw new ImageError('DownloadFailed', `apt-get could not download the packages: ${String(error)}`, error);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Unpacks packages into one directory, without installing them. */
export async function unpackPackages(paths: readonly string[], directory: string): Promise<void> {
  for (const path of paths) await tool('dpkg-deb', ['-x', path, directory]);
}

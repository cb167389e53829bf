import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ImageError } from '@metal/discovery-image/errors.ts';
import { type DebianPackage, resolvePackages } from '@metal/discovery-image/packages.ts';
import * as z from 'zod';
import { packages } from './recipe.ts';

const path = fileURLToPath(new URL('../image-lock.json', import.meta.url));

const debianPackage = z.object({ name: z.string(), version: z.string(), sha256: z.string(), fileName: z.string() });
const lockFile = z.object({
  node: z.object({ name: z.string(), version: z.string(), integrity: z.string() }),
  packages: z.array(debianPackage),
});
/** Versions and digests of what the image is made of; the bundle has those of package-lock.json. */
export type ImageLock = z.output<typeof lockFile>;

export const readLock = async (): Promise<ImageLock> => lockFile.parse(JSON.parse(await readFile(path, 'utf8')));

const offered = (): Promise<DebianPackage[]> => resolvePackages(Object.values(packages).flat());

/** @throws ImageError LockOutdated with the difference, if apt offers other packages than the lock file has. */
export async function requireCurrentLock(): Promise<void> {
  const difference = differenceOf((await readLock()).packages, await offered());
  if (difference.length === 0) return;
  throw new ImageError(
    'LockOutdated',
    `apt offers other packages than image-lock.json has:\n${difference.join('\n')}\nTake them: make container ARGS="--update"; build with those of the file, if they are in the cache: ARGS="--locked"`,
  );
}

/** Writes what apt and the npm registry offer now. */
export async function updateLock(node: ImageLock['node']): Promise<string[]> {
  const lock = { node, packages: await offered() };
  const before = await readLock().catch(() => ({ packages: [] }));
  await writeFile(path, `${JSON.stringify(lock, undefined, 2)}\n`);
  return differenceOf(before.packages, lock.packages);
}

export function differenceOf(locked: readonly DebianPackage[], current: readonly DebianPackage[]): string[] {
  const describe = (found: DebianPackage | undefined) =>
    found === undefined ? 'none' : `${found.version} (${found.sha256.slice(0, 12)})`;
  const names = new Set([...locked, ...current].map(({ name }) => name));
  const find = (list: readonly DebianPackage[], name: string) => list.find((candidate) => candidate.name === name);
  return [...names]
    .toSorted()
    .filter((name) => find(locked, name)?.sha256 !== find(current, name)?.sha256)
    .map((name) => `  ${name}: ${describe(find(locked, name))} → ${describe(find(current, name))}`);
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ImageError } from './errors.ts';
import { tool } from './tool.ts';

const folders = ['lib/x86_64-linux-gnu', 'usr/lib/x86_64-linux-gnu'];

/** Libraries that these programs need, directly or indirectly, with their files in the unpacked packages. */
export async function sharedLibraries(
  programs: readonly string[],
  roots: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let pending = programs; pending.length > 0; ) {
    const fresh = (await neededBy(pending)).filter((name) => !found.has(name));
    for (const name of fresh) found.set(name, fileOf(name, roots));
    pending = fresh.map((name) => fileOf(name, roots));
  }
  return found;
}

async function neededBy(files: readonly string[]): Promise<string[]> {
  const output = await tool('readelf', ['-d', ...files]);
  return [...new Set([...output.matchAll(/\(NEEDED\)\s+Shared library: \[([^\]]+)\]/g)].map(([, name = '']) => name))];
}

function fileOf(name: string, roots: readonly string[]): string {
  const path = roots
    .flatMap((root) => folders.map((folder) => join(root, folder, name)))
    .find((candidate) => existsSync(candidate));
  if (path === undefined)
    throw new ImageError('RecipeIncomplete', `no package of the image has ${name}; add its package to recipe.ts`);
  return path;
}

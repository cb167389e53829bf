import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const folders = ['packages', 'services', 'tools', 'test'];

/** TypeScript files of the project, relative to the root, sorted. */
export function sourceFiles(root: string): string[] {
  return folders
    .flatMap((folder) => filesIn(join(root, folder)))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => relative(root, file))
    .toSorted();
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules') return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A process takes half a second to start, and most table tests some milliseconds. */
const groupCount = 2;
/** Fewer files run as they are. */
const fewestFiles = 20;

/**
 * Files that import table tests, so that a few processes run all of them, one test after the other. Titles and places of
 * failures are those of the imported files. Few files are returned as they are.
 */
export async function groupTables(root: string, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length < fewestFiles) return paths;
  const directory = join(root, 'node_modules/.cache/table-groups');
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  return Promise.all(
    Array.from({ length: groupCount }, async (_, group) => {
      const imports = paths
        .filter((_path, index) => index % groupCount === group)
        .map((path) => `import ${JSON.stringify(pathToFileURL(join(root, path)).href)};`);
      const file = join(directory, `tables-${group + 1}.test.mjs`);
      await writeFile(file, `${imports.join('\n')}\n`);
      return file;
    }),
  );
}

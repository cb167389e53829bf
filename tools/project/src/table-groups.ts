import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A process takes half a second to start, most table tests only milliseconds. */
const groupCount = 2;
/** Fewer files are not grouped. */
const fewestFiles = 20;

/**
 * Files that import table tests, so that a few processes run all of them in sequence. Titles and locations of failures are those of
 * the imported files. A short list is returned unchanged.
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

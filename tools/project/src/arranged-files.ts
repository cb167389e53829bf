import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A process takes half a second to start, most table tests only milliseconds. */
const groupCount = 2;
/** Fewer files are run as they are. */
const fewestFiles = 20;

/**
 * Files that import the tests, because node:test runs files in the order of their names. A few processes run all table tests in
 * sequence; the others follow, each in its own process, in the given order. Titles and locations of failures are those of the imported
 * files. A short list is returned unchanged.
 */
export async function arrangeFiles(
  root: string,
  tables: readonly string[],
  others: readonly string[],
): Promise<readonly string[]> {
  const directory = join(root, 'node_modules/.cache/test-files');
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const groups = Array.from({ length: groupCount }, (_, group) => ({
    name: `tables-${group + 1}.test.mjs`,
    paths: tables.filter((_path, index) => index % groupCount === group),
  }));
  const areGrouped = tables.length >= fewestFiles;
  const files = [
    ...(areGrouped ? groups : []),
    ...(others.length >= fewestFiles
      ? others.map((path) => ({ name: `${basename(path, '.ts')}.mjs`, paths: [path] }))
      : []),
  ];
  const arranged = await Promise.all(
    files.map(async ({ name, paths }, index) => {
      const imports = paths.map((path) => `import ${JSON.stringify(pathToFileURL(join(root, path)).href)};`);
      const file = join(directory, `${String(index).padStart(3, '0')}-${name}`);
      await writeFile(file, `${imports.join('\n')}\n`);
      return file;
    }),
  );
  return [...(areGrouped ? [] : tables), ...arranged, ...(others.length >= fewestFiles ? [] : others)];
}

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A file for node:test, and the test files that it imports, or is. */
export interface ArrangedFile {
  readonly file: string;
  readonly paths: readonly string[];
}

export interface TestFiles {
  /** Tests that need no control plane, milliseconds each. */
  readonly tables: readonly string[];
  /** All others, with a weight in proportion to the time that each takes. */
  readonly others: readonly { readonly path: string; readonly weight: number }[];
  /** Limit of each test. */
  readonly timeoutMs: number;
}

/** A process takes half a second to start, most table tests only milliseconds. */
const tableGroups = 2;
/** A process takes a second to import the operator, and runs it faster from file to file. */
const otherGroups = 16;
/** Fewer files are run as they are. */
const fewestFiles = 20;

/**
 * Groups of files that run in one process each, one file after the other: table tests first, then the others, the heaviest first in each
 * group. Each of the others is a suite with its path as title. node:test runs files in the order of their names. A short list is returned
 * unchanged.
 */
export async function arrangeFiles(root: string, files: TestFiles): Promise<readonly ArrangedFile[]> {
  const { tables, others, timeoutMs } = files;
  const isShort = tables.length < fewestFiles && others.length < fewestFiles;
  const asTheyAre = (paths: readonly string[]) => paths.map((path) => ({ file: join(root, path), paths: [path] }));
  if (isShort) return asTheyAre([...tables, ...others.map(({ path }) => path)]);
  const directory = join(root, 'node_modules/.cache/test-files');
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const groups = [
    ...evenly(tables, tableGroups).map((paths) => ({ paths, text: importsOf(root, paths) })),
    ...byWeight(others, otherGroups).map((paths) => ({ paths, text: suitesOf(root, paths, timeoutMs) })),
  ].filter(({ paths }) => paths.length > 0);
  return Promise.all(
    groups.map(async ({ paths, text }, index) => {
      const name = basename(paths[0] ?? '', '.ts').replace(/\.(?:test|e2e)$/, '');
      const file = join(directory, `${String(index).padStart(3, '0')}-${name}.test.mjs`);
      await writeFile(file, text);
      return { file, paths };
    }),
  );
}

const evenly = (paths: readonly string[], count: number): string[][] =>
  Array.from({ length: count }, (_, group) => paths.filter((_path, index) => index % count === group));

/** The heaviest file goes into the lightest group, and so on. */
function byWeight(files: TestFiles['others'], count: number): string[][] {
  const groups = Array.from({ length: count }, () => ({ weight: 0, paths: [] as string[] }));
  for (const { path, weight } of files.toSorted((one, other) => other.weight - one.weight)) {
    const lightest = groups.reduce((one, other) => (other.weight < one.weight ? other : one));
    lightest.weight += weight;
    lightest.paths.push(path);
  }
  return groups.map(({ paths }) => paths);
}

const urlOf = (root: string, path: string): string => JSON.stringify(pathToFileURL(join(root, path)).href);

const importsOf = (root: string, paths: readonly string[]): string =>
  paths.map((path) => `import ${urlOf(root, path)};\n`).join('');

const suitesOf = (root: string, paths: readonly string[], timeoutMs: number): string => `
import { suiteOfFile } from ${urlOf(root, 'tools/project/src/suite-of-file.ts')};
${paths.map((path) => `suiteOfFile(${JSON.stringify(path)}, ${timeoutMs}, () => import(${urlOf(root, path)}));`).join('\n')}
`;

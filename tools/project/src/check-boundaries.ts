import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { importsIn } from './code-text.ts';
import { sourceFiles } from './source-files.ts';
import { findTestOnlyFiles, isTest, isTestCode } from './test-code.ts';
import type { Violation } from './violation.ts';

/**
 * Allowed imports by folder. A key is a folder; the deepest one that contains a file applies. `a/*` makes every folder in `a` a
 * separate one. A value lists the folders that may be imported: `a` with its subfolders, `a/.` without them, `*` everything.
 */
export type Boundaries = Readonly<Record<string, readonly string[]>>;

/** Reads `boundaries.json` and every import of the project. Lists imports that it does not allow, import cycles, and code that only tests use. */
export function findBoundaryViolations(root: string): Violation[] {
  const { mayImport: boundaries, entryPoints } = readBoundaryFile(root);
  const files = sourceFiles(root).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
  const unused = Object.keys(boundaries).filter(
    (key) => !files.some(({ file }) => file.startsWith(key.replace(/\*$/, ''))),
  );
  const imports = new Map(files.map(({ file, text }) => [file, importedPaths(file, text, boundaries)]));
  return [
    ...files.flatMap(({ file, text }) => violationsIn(file, text, boundaries)),
    ...unused.map((key) => ({ file: 'boundaries.json', line: 1, message: `names ${key}, which holds no source file` })),
    ...findCycles(imports),
    ...findTestOnlyFiles(imports, entryPoints),
  ];
}

interface BoundaryFile {
  readonly mayImport: Boundaries;
  /** Files of the product that no other one imports: the main files of programs, and libraries for others. */
  readonly entryPoints: readonly string[];
}

/** A file of this repository; a missing folder is reported for the first file in it. */
const readBoundaryFile = (root: string): BoundaryFile =>
  JSON.parse(readFileSync(join(root, 'boundaries.json'), 'utf8')) as BoundaryFile;

export const readBoundaries = (root: string): Boundaries => readBoundaryFile(root).mayImport;

/** The violations of one file; `file` is relative to the root. */
export function violationsIn(file: string, text: string, boundaries: Boundaries): Violation[] {
  const from = boundaryOf(file, boundaries);
  if (from === undefined)
    return [
      { file, line: 1, message: 'lies in no folder of boundaries.json; put it into the package that owns the noun' },
    ];
  return importsIn(text).flatMap(({ specifier, line }) => {
    const path = pathOf(file, specifier, boundaries);
    const to = path === undefined ? undefined : boundaryOf(path, boundaries);
    if (path !== undefined && isTestCode(path) && !isTestCode(file))
      return [
        { file, line, message: `imports ${specifier}, which is code of tests; move what the product needs into src` },
      ];
    if (to === undefined || mayImport(from, to, boundaries) || (isTest(file) && isSamePackage(file, to.folder)))
      return [];
    const allowed = boundaries[from.key] ?? [];
    const list = allowed.length === 0 ? 'nothing of ours' : allowed.join(', ');
    return [
      {
        file,
        line,
        message: `imports ${specifier}: ${from.folder} may import ${list}, not ${to.folder}; put it into the package that owns the noun`,
      },
    ];
  });
}

interface Boundary {
  /** Key in boundaries.json. */
  readonly key: string;
  readonly folder: string;
}

function mayImport(from: Boundary, to: Boundary, boundaries: Boundaries): boolean {
  const allowed = boundaries[from.key] ?? [];
  return (
    from.folder === to.folder ||
    allowed.some((folder) => folder === '*' || folder === `${to.folder}/.` || isIn(to.folder, folder))
  );
}

/** Tests are beside the code and may import their whole package. */
const isSamePackage = (one: string, other: string): boolean => packageOf(one) === packageOf(other);
const packageOf = (path: string): string => path.split('/').slice(0, 2).join('/');

const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** The deepest boundary that contains a file. */
function boundaryOf(path: string, boundaries: Boundaries): Boundary | undefined {
  const segments = path.split('/').slice(0, -1);
  for (let depth = segments.length; depth > 0; depth--) {
    const folder = segments.slice(0, depth).join('/');
    const children = `${segments.slice(0, depth - 1).join('/')}/*`;
    if (folder in boundaries) return { key: folder, folder };
    if (children in boundaries) return { key: children, folder };
  }
  return undefined;
}

/**
 * The imported file, relative to the root; undefined for an external package. Packages are named after their folders:
 * `@metal/kube/cache/store.ts` is `packages/kube/src/cache/store.ts`, `@metal/kube/test/fake-clock.ts` is `packages/kube/test/fake-clock.ts`.
 */
export function pathOf(file: string, specifier: string, boundaries: Boundaries): string | undefined {
  if (specifier.startsWith('.')) return relative('/', resolve('/', dirname(file), specifier));
  const [, name, rest] = /^@metal\/([^/]+)\/(.+)$/.exec(specifier) ?? [];
  const key = Object.keys(boundaries).find((candidate) => candidate.split('/')[1] === name);
  return key === undefined ? undefined : `${packageOf(key)}/${rest?.startsWith('test/') ? '' : 'src/'}${rest}`;
}

const importedPaths = (file: string, text: string, boundaries: Boundaries): string[] =>
  importsIn(text).flatMap(({ specifier }) => pathOf(file, specifier, boundaries) ?? []);

/** Files that import each other, directly or through others, types included; one violation for each group (Tarjan, 1972). */
export function findCycles(imports: ReadonlyMap<string, readonly string[]>): Violation[] {
  const order = new Map<string, { index: number; low: number; isOpen: boolean }>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): number => {
    const state = { index: order.size, low: order.size, isOpen: true };
    order.set(file, state);
    open.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!imports.has(next)) continue;
      const seen = order.get(next);
      if (seen === undefined) state.low = Math.min(state.low, visit(next));
      else if (seen.isOpen) state.low = Math.min(state.low, seen.index);
    }
    if (state.low === state.index) cycles.push(closeGroup(file, open, order));
    return state.low;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return cycles
    .filter((group) => group.length > 1)
    .map((group) => {
      const [file = '', ...others] = group.toSorted();
      return {
        file,
        line: 1,
        message: `is in an import cycle with ${others.join(', ')}; move the type that both need`,
      };
    });
}

function closeGroup(file: string, open: string[], order: Map<string, { isOpen: boolean }>): string[] {
  const group = open.splice(open.lastIndexOf(file));
  for (const member of group) {
    const state = order.get(member);
    if (state !== undefined) state.isOpen = false;
  }
  return group;
}

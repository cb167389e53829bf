import type { Violation } from './violation.ts';

export const isTest = (file: string): boolean => /\.(?:test|e2e)\.ts$/.test(file);

/** Tests, and what only tests and benchmarks import: a test imports it, the product does not. */
export const isTestCode = (file: string): boolean =>
  isTest(file) || /^(?:test|tools\/bench|(?:packages|services|tools)\/[^/]+\/test)\//.test(file);

const isProduct = (file: string): boolean => /^(?:packages|services)\//.test(file) && !isTestCode(file);

/** Files of the product that neither an entry point nor a tool imports, directly or through others; and needless entry points. */
export function findTestOnlyFiles(
  imports: ReadonlyMap<string, readonly string[]>,
  entryPoints: readonly string[],
): Violation[] {
  const files = [...imports.keys()];
  const tools = files.filter((file) => !isProduct(file) && !isTestCode(file));
  const used = reachableFrom([...tools, ...entryPoints], imports);
  const imported = new Set(files.filter((file) => !isTestCode(file)).flatMap((file) => imports.get(file) ?? []));
  return [
    ...files
      .filter((file) => isProduct(file) && !used.has(file))
      .map((file) => ({ file, line: 1, message: `is used only by tests; ${remedy}` })),
    ...entryPoints
      .filter((file) => !imports.has(file) || imported.has(file))
      .map((file) => ({
        file: 'boundaries.json',
        line: 1,
        message: `names the entry point ${file}, which ${imports.has(file) ? 'other code imports' : 'does not exist'}; remove it`,
      })),
  ];
}

const remedy =
  'move it to the folder test of its package, remove it, or name it in entryPoints of boundaries.json if a program starts there';

function reachableFrom(files: readonly string[], imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...files];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    open.push(...(imports.get(file) ?? []));
  }
  return reached;
}

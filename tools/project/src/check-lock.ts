import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Violation } from './violation.ts';

const lockFiles = ['package-lock.json', 'tools/project/docs-site/package-lock.json'];
const lock = z.object({
  packages: z.record(z.string(), z.object({ optionalDependencies: z.record(z.string(), z.string()).optional() })),
});

/** Lists optional dependencies, such as programs for other platforms, that a lock file lacks. */
export function findLockViolations(root: string): Violation[] {
  return lockFiles.flatMap((file) => lockViolationsIn(file, readFileSync(join(root, file), 'utf8')));
}

/**
 * npm writes a lock file without the programs for other platforms if node_modules has none of them, and `npm ci` of npm 11 then
 * refuses the file.
 */
export function lockViolationsIn(file: string, text: string): Violation[] {
  const { packages } = lock.parse(JSON.parse(text));
  const present = new Set(Object.keys(packages).map(nameOf));
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !present.has(name))
      .map((name) => ({
        file,
        line: 1,
        message: `expected ${name}, which ${nameOf(path)} has for another platform; found no entry. Run rm -rf node_modules && npm install --package-lock-only, and commit the file`,
      })),
  );
}

const nameOf = (path: string): string => path.replace(/^.*node_modules\//, '');

import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { importsIn } from './code-text.ts';
import { sourceFiles } from './source-files.ts';

/** An import that goes through a wall. */
export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export type Boundaries = Readonly<Record<string, readonly string[]>>;

/** Rooms inside the operator: they meet only in the API server. */
const operatorModules = ['discover', 'inventory', 'claim', 'boot', 'release', 'upkeep'];

/** Reads `rooms.json` and every import of the project, and lists what the plan does not allow. */
export function findViolations(root: string): Violation[] {
  const boundaries = readBoundaries(root);
  return sourceFiles(root).flatMap((file) => violationsIn(file, readFileSync(join(root, file), 'utf8'), boundaries));
}

export function readBoundaries(root: string): Boundaries {
  // The file is ours; a room that it lacks is found by the first file in it.
  const { rooms } = JSON.parse(readFileSync(join(root, 'rooms.json'), 'utf8')) as { rooms: Boundaries };
  return rooms;
}

/** The breaches of one file; `file` is relative to the root. */
export function violationsIn(file: string, text: string, boundaries: Boundaries): Violation[] {
  const from = moduleOf(file, boundaries);
  if (from === undefined)
    return [{ file, line: 1, message: 'the file lies in no room; expected one of those in rooms.json' }];
  return importsIn(text).flatMap(({ specifier, line }) => {
    const target = targetOf(file, specifier, boundaries);
    const message =
      target === undefined
        ? undefined
        : (moduleViolation(from, target.module, boundaries) ?? operatorModuleViolation(file, target.path));
    return message === undefined ? [] : [{ file, line, message: `imports ${specifier}: ${message}` }];
  });
}

function moduleViolation(from: string, to: string, boundaries: Boundaries): string | undefined {
  const allowed = boundaries[from] ?? [];
  if (from === to || allowed.includes('*') || allowed.includes(to)) return undefined;
  return `${from} may use ${allowed.length === 0 ? 'nothing of ours' : allowed.join(', ')}, not ${to}; let the two meet in the API server, or change rooms.json with a decision record`;
}

/** Rooms of the operator do not import one another. */
function operatorModuleViolation(file: string, target: string): string | undefined {
  const [from, to] = [file, target].map(operatorModuleOf);
  if (from === undefined || to === undefined || from === to) return undefined;
  return `room ${from} of the operator may not use room ${to}; move what both need to services/operator/src`;
}

function operatorModuleOf(path: string): string | undefined {
  const [, name] = /^services\/operator\/src\/([^/]+)\//.exec(path) ?? [];
  return name !== undefined && operatorModules.includes(name) ? name : undefined;
}

function targetOf(
  file: string,
  specifier: string,
  boundaries: Boundaries,
): { module: string; path: string } | undefined {
  const path = pathOf(file, specifier, boundaries);
  const module = path === undefined ? undefined : moduleOf(path, boundaries);
  return path === undefined || module === undefined ? undefined : { module, path };
}

/**
 * The file an import means, relative to the root; undefined for what is not ours. Our packages are named after their
 * folders: `@metal/kube/client.ts` is `packages/kube/src/client.ts`.
 */
export function pathOf(file: string, specifier: string, boundaries: Boundaries): string | undefined {
  if (specifier.startsWith('.')) return relative('/', resolve('/', dirname(file), specifier));
  const [, name, rest] = /^@metal\/([^/]+)\/(.+)$/.exec(specifier) ?? [];
  const module = Object.keys(boundaries).find((candidate) => candidate.endsWith(`/${name}`));
  return module === undefined ? undefined : `${module}/src/${rest}`;
}

const moduleOf = (path: string, boundaries: Boundaries): string | undefined =>
  Object.keys(boundaries).find((module) => path.startsWith(`${module}/`));

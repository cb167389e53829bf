import { ImageError } from './errors.ts';

/** Metadata of a module, from its section .modinfo. */
export interface ModuleInfo {
  readonly name: string;
  /** Path below the directory of modules. */
  readonly path: string;
  readonly depends: readonly string[];
  readonly aliases: readonly string[];
}

/** Zero-terminated `key=value` texts, found by pattern instead of by parsing ELF. */
export function moduleInfo(path: string, section: string): ModuleInfo {
  const texts = section.split('\0');
  const valuesOf = (key: string) =>
    texts.filter((text) => text.startsWith(`${key}=`)).map((text) => text.slice(key.length + 1));
  const softDepends = valuesOf('softdep').flatMap(
    (text) => /pre: ([^:]*?)(?: post:.*)?$/.exec(text)?.[1]?.split(' ') ?? [],
  );
  const depends = [...valuesOf('depends').flatMap((text) => text.split(',')), ...softDepends];
  return {
    name: moduleName(path),
    path,
    depends: depends.filter((name) => name !== '').map(plain),
    aliases: valuesOf('alias'),
  };
}

export const moduleName = (path: string): string => plain((path.split('/').at(-1) ?? '').replace(/\.ko$/, ''));
/** The kernel accepts both, and file names have either. */
const plain = (name: string): string => name.replaceAll('-', '_');

/**
 * The given modules with all their dependencies, dependencies first.
 * @param read Returns the metadata of a module, undefined for a built-in one.
 */
export function withDependencies(wanted: readonly string[], read: (name: string) => ModuleInfo | undefined) {
  const found = new Map<string, ModuleInfo>();
  const visit = (name: string) => {
    if (found.has(name)) return;
    const module = read(name);
    if (module === undefined) return;
    for (const needed of module.depends) visit(needed);
    found.set(name, module);
  };
  for (const name of wanted) visit(plain(name));
  return [...found.values()];
}

/** The two lists that modprobe reads, for these modules only. */
export function moduleLists(modules: readonly ModuleInfo[]): Readonly<Record<string, string>> {
  const byName = new Map(modules.map((module) => [module.name, module]));
  const needs = (module: ModuleInfo): string[] =>
    // modprobe loads the list from its end.
    withDependencies(module.depends, (name) => byName.get(name))
      .toReversed()
      .map(({ path }) => path);
  const sorted = modules.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return {
    'modules.dep': sorted.map((module) => `${module.path}: ${needs(module).join(' ')}`.trimEnd()).join('\n') + '\n',
    'modules.alias':
      sorted.flatMap(({ name, aliases }) => aliases.map((alias) => `alias ${alias} ${name}`)).join('\n') + '\n',
  };
}

/** @throws ImageError if a required module is neither a file nor built in. */
export function requireModules(wanted: readonly string[], isKnown: (name: string) => boolean): void {
  const unknown = wanted.filter((name) => !isKnown(plain(name)));
  if (unknown.length > 0)
    throw new ImageError('RecipeIncomplete', `the kernel has no module ${unknown.join(', ')}; correct recipe.ts`);
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathOf, readBoundaries, type Boundaries } from './check-boundaries.ts';
import { importsIn } from './code-text.ts';

/** Direct and indirect imports of files, without those of types alone. Reads each file once. */
export class ImportGraph {
  readonly #root: string;
  readonly #boundaries: Boundaries;
  readonly #direct = new Map<string, readonly string[]>();

  constructor(root: string) {
    this.#root = root;
    this.#boundaries = readBoundaries(root);
  }

  reaches(file: string, target: string): boolean {
    const seen = new Set<string>();
    const open = [file];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === target) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...this.#importsOf(next));
    }
    return false;
  }

  #importsOf(file: string): readonly string[] {
    const known = this.#direct.get(file);
    if (known !== undefined) return known;
    const path = join(this.#root, file);
    const found = existsSync(path)
      ? importsIn(readFileSync(path, 'utf8')).flatMap(({ specifier, isTypeOnly }) =>
          isTypeOnly ? [] : (pathOf(file, specifier, this.#boundaries) ?? []),
        )
      : [];
    this.#direct.set(file, found);
    return found;
  }
}

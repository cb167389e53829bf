import { SortedList } from './sorted-list.ts';

/** Natural order: `server-9` before `server-10`. Locale data is loaded once, not per comparison. */
const order = new Intl.Collator('en', { numeric: true });

/** Names in order. */
export class SortedNames implements Iterable<string> {
  readonly #names = new SortedList<string>(byName);
  /** The same names: a lookup in the list costs comparisons by locale. */
  readonly #known = new Set<string>();

  get size(): number {
    return this.#names.size;
  }

  has(name: string): boolean {
    return this.#known.has(name);
  }

  /** Adds or removes the name; idempotent. */
  put(name: string, isIn: boolean): void {
    if (isIn === this.#known.has(name)) return;
    if (isIn) {
      this.#known.add(name);
      this.#names.add(name);
    } else {
      this.#known.delete(name);
      this.#names.remove(name);
    }
  }

  first(count: number): string[] {
    return this.#names.first(count);
  }

  /** Names from this one on, which may be absent. */
  from(name: string): Iterable<string> {
    return this.#names.from(name);
  }

  clear(): void {
    this.#names.clear();
    this.#known.clear();
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#names[Symbol.iterator]();
  }
}

/** For sorting. Names that the collator takes for equal (`a-1`, `a-01`) differ. */
export function byName(one: string, other: string): number {
  const byOrder = order.compare(one, other);
  if (byOrder !== 0 || one === other) return byOrder;
  return one < other ? -1 : 1;
}

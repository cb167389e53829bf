import { SortedList } from './sorted-list.ts';

/** Natural order: `server-9` before `server-10`. Locale data is loaded once, not per comparison. */
const order = new Intl.Collator('en', { numeric: true });

/** Names in order. */
export class SortedNames implements Iterable<string> {
  readonly #names = new SortedList<string>(byName);

  get size(): number {
    return this.#names.size;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Adds or removes the name; idempotent. */
  put(name: string, isIn: boolean): void {
    if (isIn) this.#names.add(name);
    else this.#names.remove(name);
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

/** Numbers in names count as such: `server-9` comes before `server-10`. Locale data is looked up once, not per comparison. */
const order = new Intl.Collator('en', { numeric: true });

/** Names in order, kept in order: adding and removing one costs no sorting. */
export class SortedNames implements Iterable<string> {
  readonly #names: string[] = [];

  get size(): number {
    return this.#names.length;
  }

  /** Adds it, or takes it out; nothing happens where it is so already. */
  put(name: string, isIn: boolean): void {
    const index = this.#placeOf(name);
    const wasIn = this.#names[index] === name;
    if (isIn && !wasIn) this.#names.splice(index, 0, name);
    if (!isIn && wasIn) this.#names.splice(index, 1);
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#names.values();
  }

  /** Where it stands, or where it would have to be put. */
  #placeOf(name: string): number {
    let [low, high] = [0, this.#names.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(this.#names[middle] ?? '', name) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Names that the collator takes for the same (`a-1`, `a-01`) are still two. */
function compare(one: string, other: string): number {
  const byOrder = order.compare(one, other);
  if (byOrder !== 0 || one === other) return byOrder;
  return one < other ? -1 : 1;
}

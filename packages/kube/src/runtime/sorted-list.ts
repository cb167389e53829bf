/** A list that stays sorted: adding and removing an item does not sort. Items that compare as equal are the same. */
export class SortedList<T> {
  readonly #items: T[] = [];
  readonly #compare: (one: T, other: T) => number;

  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  has(item: T): boolean {
    return this.#isAt(this.#indexOf(item), item);
  }

  /** Replaces an equal item. */
  add(item: T): void {
    const index = this.#indexOf(item);
    this.#items.splice(index, this.#isAt(index, item) ? 1 : 0, item);
  }

  remove(item: T): void {
    const index = this.#indexOf(item);
    if (this.#isAt(index, item)) this.#items.splice(index, 1);
  }

  first(count: number): T[] {
    return this.#items.slice(0, count);
  }

  /** Length of the prefix for which that holds; it must not hold behind. */
  countBefore(holds: (item: T) => boolean): number {
    let [low, high] = [0, this.#items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const item = this.#items[middle];
      if (item !== undefined && holds(item)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Items from this one on, which may be absent. */
  *from(item: T): Iterable<T> {
    for (let index = this.#indexOf(item); index < this.#items.length; index += 1) yield this.#items[index] ?? item;
  }

  clear(): void {
    this.#items.length = 0;
  }

  *[Symbol.iterator](): Iterator<T> {
    yield* this.#items;
  }

  #indexOf(item: T): number {
    return this.countBefore((other) => this.#compare(other, item) < 0);
  }

  #isAt(index: number, item: T): boolean {
    const found = this.#items[index];
    return found !== undefined && this.#compare(found, item) === 0;
  }
}

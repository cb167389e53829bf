/** A Map that keeps the entries that were set last; beyond the limit it drops the one whose `set` is longest ago. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.entries();
    if (oldest !== undefined && this.size > this.#limit) this.delete(oldest[0]);
    return this;
  }
}

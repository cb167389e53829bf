/**
 * Index of object keys by values of the objects. Most values have one key, which is stored as a string: a set takes
 * 230 bytes more.
 */
export class StoreIndex<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #files = new Map<string, string | Set<string>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  keysUnder(value: string): Iterable<string> {
    const file = this.#files.get(value) ?? [];
    return typeof file === 'string' ? [file] : file;
  }

  /** Most changes keep the values of an object. */
  refile(key: string, before: T | undefined, after: T | undefined): void {
    const values = after === undefined ? [] : this.#valuesOf(after);
    for (const value of before === undefined ? [] : this.#valuesOf(before))
      if (!values.includes(value)) this.#remove(value, key);
    for (const value of values) this.#add(value, key);
  }

  #add(value: string, key: string): void {
    const file = this.#files.get(value) ?? key;
    if (typeof file !== 'string') file.add(key);
    else this.#files.set(value, file === key ? key : new Set([file, key]));
  }

  #remove(value: string, key: string): void {
    const file = this.#files.get(value);
    if (file instanceof Set) file.delete(key);
    if (file === key || (file instanceof Set && file.size === 0)) this.#files.delete(value);
  }
}

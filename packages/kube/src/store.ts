import type { Cache, Change, Indexes } from './cache.ts';
import { keyOf, type KubeObject, type ObjectRef } from './kind.ts';

/** How many deleted UIDs are remembered, so that a late answer to a write cannot bring an object back. */
const graveyardSize = 4_096;

/** The memory behind a cache: objects by key, filed in indexes, newest version wins. */
export class Store<T extends KubeObject> implements Cache<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, { keysOf: (object: T) => readonly string[]; files: Map<string, Set<string>> }>();
  readonly #listeners = new Set<(change: Change<T>) => void>();
  readonly #deleted = new Set<string>();

  get size(): number {
    return this.#objects.size;
  }

  get(ref: ObjectRef | string): T | undefined {
    return this.#objects.get(typeof ref === 'string' ? ref : keyOf(ref));
  }

  all(): Iterable<T> {
    return this.#objects.values();
  }

  by(index: string, value: string): readonly T[] {
    const filed = this.#indexes.get(index);
    if (filed === undefined)
      throw new TypeError(
        `there is no index "${index}"; declared are ${[...this.#indexes.keys()].join(', ') || 'none'}`,
      );
    const keys = filed.files.get(value) ?? [];
    return [...keys].map((key) => this.#objects.get(key)).filter((object) => object !== undefined);
  }

  onChange(listener: (change: Change<T>) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  addIndexes(indexes: Indexes<T>): void {
    for (const [name, keysOf] of Object.entries(indexes)) {
      this.#indexes.set(name, { keysOf, files: new Map() });
      for (const [key, object] of this.#objects) this.#file(name, key, object);
    }
  }

  /** Takes an object that is at least as new as the one known; older ones are ignored. */
  absorb(object: T): void {
    const key = keyOf(object);
    const before = this.#objects.get(key);
    if (this.#deleted.has(object.metadata.uid ?? '') || (before !== undefined && !isNewer(object, before))) return;
    this.#put(key, before, object);
  }

  /** The object no longer exists, unless a newer one has taken its place. */
  remove(object: T): void {
    this.forget(keyOf(object), object.metadata.uid);
  }

  /** The same, where only the UID is known. */
  forget(key: string, uid: string | undefined): void {
    this.#bury(uid);
    const before = this.#objects.get(key);
    if (before === undefined || before.metadata.uid !== uid) return;
    this.#drop(key, before);
  }

  /** A complete list, taken at `resourceVersion`: what it lacks and is not newer than it, is gone. */
  replace(objects: readonly T[], resourceVersion: string): void {
    const listed = new Set(objects.map((object) => keyOf(object)));
    for (const [key, before] of this.#objects) {
      if (listed.has(key) || versionOf(before.metadata.resourceVersion) > versionOf(resourceVersion)) continue;
      this.#bury(before.metadata.uid);
      this.#drop(key, before);
    }
    for (const object of objects) this.absorb(object);
  }

  #put(key: string, before: T | undefined, object: T): void {
    const after = deepFreeze(object);
    if (before !== undefined) this.#unfileAll(key, before);
    this.#objects.set(key, after);
    for (const name of this.#indexes.keys()) this.#file(name, key, after);
    this.#tell({ key, before, after });
  }

  #drop(key: string, before: T): void {
    this.#unfileAll(key, before);
    this.#objects.delete(key);
    this.#tell({ key, before });
  }

  #tell(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change);
  }

  #file(name: string, key: string, object: T): void {
    const index = this.#indexes.get(name);
    for (const value of index?.keysOf(object) ?? []) {
      const file = index?.files.get(value);
      if (file === undefined) index?.files.set(value, new Set([key]));
      else file.add(key);
    }
  }

  #unfileAll(key: string, object: T): void {
    for (const { keysOf, files } of this.#indexes.values()) {
      for (const value of keysOf(object)) {
        const file = files.get(value);
        file?.delete(key);
        if (file?.size === 0) files.delete(value);
      }
    }
  }

  #bury(uid: string | undefined): void {
    if (uid === undefined) return;
    this.#deleted.add(uid);
    const [oldest] = this.#deleted;
    if (this.#deleted.size > graveyardSize && oldest !== undefined) this.#deleted.delete(oldest);
  }
}

function isNewer(candidate: KubeObject, known: KubeObject): boolean {
  return versionOf(candidate.metadata.resourceVersion) > versionOf(known.metadata.resourceVersion);
}

const versionOf = (resourceVersion: string | undefined): bigint =>
  /^\d+$/.test(resourceVersion ?? '') ? BigInt(resourceVersion ?? 0) : 0n;

/** Freezes what JSON brought: plain objects and arrays. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

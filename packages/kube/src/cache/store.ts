import { InternedStrings } from './interned-strings.ts';
import { keyOf, type KubeObject, type ObjectRef } from '../kinds/kind.ts';
import { transformForCache } from './transform-for-cache.ts';
import { StoreIndex } from './store-index.ts';
import { isNewerVersion } from './versions.ts';

/** How many deleted UIDs are remembered, so that a late answer to a write cannot bring an object back. */
const maxTombstones = 4_096;

/** A complete list that comes in object by object. What it lacks when it is complete is gone. */
export interface ListReplacement<T> {
  /** It is there. */
  upsert(object: T): void;
  /** It was there when the list began, and is not any more. */
  remove(object: T): void;
  /** All there was at this version has been told. What is newer was written meanwhile, and stays. */
  commit(resourceVersion: string): void;
}

/** The memory behind a cache: objects by key, filed in indexes, newest version wins. */
export class Store<T extends KubeObject> implements Cache<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, StoreIndex<T>>();
  readonly #listeners = new Set<(change: Change<T>) => void>();
  readonly #tombstones = new Set<string>();
  readonly #strings: InternedStrings;
  readonly #transform: (object: T) => T;

  /** Stores may share their strings. */
  constructor(strings = new InternedStrings(), transform = (object: T) => object) {
    this.#strings = strings;
    this.#transform = transform;
  }

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
    return [...filed.keysUnder(value)].map((key) => this.#objects.get(key)).filter((object) => object !== undefined);
  }

  onChange(listener: (change: Change<T>) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  addIndexes(indexes: Indexes<T>): void {
    for (const [name, valuesOf] of Object.entries(indexes)) {
      const index = new StoreIndex(valuesOf);
      this.#indexes.set(name, index);
      for (const [key, object] of this.#objects) index.refile(key, undefined, object);
    }
  }

  /** Takes an object that is newer than the one known, and says whether it was. */
  upsertIfNewer(object: T): boolean {
    const key = keyOf(object);
    const before = this.#objects.get(key);
    if (this.#tombstones.has(object.metadata.uid ?? '') || (before !== undefined && !isNewer(object, before)))
      return false;
    this.#put(key, before, object);
    return true;
  }

  /** The object no longer exists, unless a newer one has taken its place. */
  remove(object: T): void {
    this.removeByUid(keyOf(object), object.metadata.uid);
  }

  /** The same, where only the UID is known. */
  removeByUid(key: string, uid: string | undefined): void {
    this.#addTombstone(uid);
    const before = this.#objects.get(key);
    if (before === undefined || before.metadata.uid !== uid) return;
    this.#drop(key, before);
  }

  /** What is told is known at once; what is not told is known when the census is complete. One that is not completed changes nothing else. */
  listReplacement(): ListReplacement<T> {
    const listed = new Set<string>();
    return {
      upsert: (object) => {
        listed.add(keyOf(object));
        this.upsertIfNewer(object);
      },
      remove: (object) => {
        listed.delete(keyOf(object));
        this.remove(object);
      },
      commit: (resourceVersion) => this.#dropUnlisted(listed, resourceVersion),
    };
  }

  #dropUnlisted(listed: ReadonlySet<string>, resourceVersion: string): void {
    for (const [key, before] of this.#objects) {
      if (listed.has(key) || isNewerVersion(before.metadata.resourceVersion, resourceVersion)) continue;
      this.#addTombstone(before.metadata.uid);
      this.#drop(key, before);
    }
  }

  #put(key: string, before: T | undefined, object: T): void {
    const after = transformForCache(this.#transform(object), this.#strings);
    this.#objects.set(key, after);
    for (const index of this.#indexes.values()) index.refile(key, before, after);
    this.#notify({ key, before, after });
  }

  #drop(key: string, before: T): void {
    for (const index of this.#indexes.values()) index.refile(key, before, undefined);
    this.#objects.delete(key);
    this.#notify({ key, before });
  }

  #notify(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change);
  }

  #addTombstone(uid: string | undefined): void {
    if (uid === undefined) return;
    this.#tombstones.add(uid);
    const [oldest] = this.#tombstones;
    if (this.#tombstones.size > maxTombstones && oldest !== undefined) this.#tombstones.delete(oldest);
  }
}

const isNewer = (candidate: KubeObject, known: KubeObject): boolean =>
  isNewerVersion(candidate.metadata.resourceVersion, known.metadata.resourceVersion);

export interface Change<T> {
  readonly key: string;
  readonly before?: T | undefined;
  readonly after?: T | undefined;
}

/** All objects of one kind as the API server last told them. Objects are frozen and shared. */
export interface Cache<T extends KubeObject> {
  readonly size: number;
  get(ref: ObjectRef | string): T | undefined;
  all(): Iterable<T>;
  /** Objects that the named index files under the value, in no particular order. */
  by(index: string, value: string): readonly T[];
  /** Called after the cache changed, in order. Listeners must not throw. */
  onChange(listener: (change: Change<T>) => void): Disposable;
}

export type Indexes<T> = Record<string, (object: T) => readonly string[]>;

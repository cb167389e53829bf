import { InternedStrings } from './interned-strings.ts';
import { keyOf, type KubeObject, type ObjectRef } from '../kinds/kind.ts';
import { transformForCache } from './transform-for-cache.ts';
import { StoreIndex } from './store-index.ts';
import { isNewerVersion } from './versions.ts';

/** Number of deleted UIDs kept, so that a late response to a write cannot restore an object. */
const maxTombstones = 4_096;

/** A list that arrives object by object. `commit` removes the objects that it lacks. */
export interface ListReplacement<T> {
  upsert(object: T): void;
  /** Removes an object that was deleted while the list arrives. */
  remove(object: T): void;
  /** The list is complete at this version. Newer objects were written meanwhile, and stay. */
  commit(resourceVersion: string): void;
}

/** Storage of a cache: objects by key and by index; the newest version wins. */
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

  /** Stores the object if it is newer than the stored one. True if stored. */
  upsertIfNewer(object: T): boolean {
    const key = keyOf(object);
    const before = this.#objects.get(key);
    if (this.#tombstones.has(object.metadata.uid ?? '') || (before !== undefined && !isNewer(object, before)))
      return false;
    this.#put(key, before, object);
    return true;
  }

  /** Removes the object, unless another one has replaced it. */
  remove(object: T): void {
    this.removeByUid(keyOf(object), object.metadata.uid);
  }

  /** Like `remove`, by UID. */
  removeByUid(key: string, uid: string | undefined): void {
    this.#addTombstone(uid);
    const before = this.#objects.get(key);
    if (before === undefined || before.metadata.uid !== uid) return;
    this.#drop(key, before);
  }

  /** Upserts and removals apply at once; unlisted objects are removed at `commit`, and only then. */
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

/** All objects of one kind, as last received. Objects are frozen and shared. */
export interface Cache<T extends KubeObject> {
  readonly size: number;
  get(ref: ObjectRef | string): T | undefined;
  all(): Iterable<T>;
  /** Objects with this value in the named index, in no particular order. */
  by(index: string, value: string): readonly T[];
  /** Called after the cache changed, in order. Listeners must not throw. */
  onChange(listener: (change: Change<T>) => void): Disposable;
}

export type Indexes<T> = Record<string, (object: T) => readonly string[]>;

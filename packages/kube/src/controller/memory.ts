import { keyOf, type KubeObject } from '../kinds/kind.ts';

/**
 * Memory of one controller: one value per object, by UID. The reconcile loop drops it when the object is deleted, is created
 * again under its name, or moves to another replica. A value with a dispose method is disposed then.
 */
export class ObjectMemories<T extends KubeObject, Memory> {
  readonly #create: (object: T) => Memory;
  readonly #entries = new Map<string, { readonly uid: string; readonly memory: Memory }>();

  constructor(create: (object: T) => Memory) {
    this.#create = create;
  }

  of(object: T): Memory {
    const key = keyOf(object);
    const { uid = '' } = object.metadata;
    const known = this.#entries.get(key);
    if (known?.uid === uid) return known.memory;
    return this.replace(object, this.#create(object));
  }

  replace(object: T, memory: Memory): Memory {
    const key = keyOf(object);
    this.drop(key);
    this.#entries.set(key, { uid: object.metadata.uid ?? '', memory });
    return memory;
  }

  drop(key: string): void {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    if (isDisposable(entry?.memory)) entry.memory[Symbol.dispose]();
  }
}

const isDisposable = (value: unknown): value is Disposable =>
  typeof value === 'object' && value !== null && Symbol.dispose in value;

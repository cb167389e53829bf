import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Cache, Change } from '@metal/kube/cache/store.ts';
import type { Kind, KubeObject, ObjectRef } from '@metal/kube/kinds/kind.ts';
import type { Timeline } from './timeline.ts';
import { WatchedObject } from './watched-object.ts';

export interface ObjectsOfKindOptions<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly cache: Cache<T>;
  readonly client: KubeClient;
  readonly timeline: Timeline;
  readonly phase?: (object: T) => string | undefined;
}

/** The cached objects of one kind, with waits and patches. Names of a namespaced kind are in namespace `default`. */
export class ObjectsOfKind<T extends KubeObject> implements Cache<T> {
  readonly #options: ObjectsOfKindOptions<T>;

  constructor(options: ObjectsOfKindOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#options.cache.size;
  }

  get(ref: ObjectRef | string): T | undefined {
    return this.#options.cache.get(ref);
  }

  all(): Iterable<T> {
    return this.#options.cache.all();
  }

  by(index: string, value: string): readonly T[] {
    return this.#options.cache.by(index, value);
  }

  onChange(listener: (change: Change<T>) => void): Disposable {
    return this.#options.cache.onChange(listener);
  }

  named(name: string): WatchedObject<T> {
    const { kind } = this.#options;
    const key = kind.scope === 'Namespaced' ? `default/${name}` : name;
    return this.found(`${kind.kind} ${name}`, () => this.get(key));
  }

  /** The object that `find` returns at the time of each check. */
  found(what: string, find: () => T | undefined): WatchedObject<T> {
    const { cache, timeline, phase = () => undefined } = this.#options;
    return new WatchedObject({ what, cache, find, phase, timeline });
  }

  /** A JSON merge patch. */
  patch(name: string, patch: object): Promise<T> {
    const { kind, client } = this.#options;
    return client.mergePatch(kind, kind.scope === 'Namespaced' ? { namespace: 'default', name } : { name }, patch);
  }
}

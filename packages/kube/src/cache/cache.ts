import type { Logger } from 'pino';
import { Counter, type Histogram, type Registry } from 'prom-client';
import type { KubeClient } from '../client/client.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Kind, keyOf, type KubeObject } from '../kinds/kind.ts';
import type { KubeErrorCode } from '../errors.ts';
import { syncRemedy } from './sync-remedy.ts';
import { Reflector } from './reflector.ts';
import { InternedStrings } from './interned-strings.ts';
import { Store, type Cache, type Indexes } from './store.ts';
import type { ListOptions } from '../client/options.ts';
import { WatchLag, watchLagHistogram } from './watch-lag.ts';

export interface CacheOptions<T> extends Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'> {
  readonly indexes?: Indexes<T>;
  /** Trims an object before it is stored (client-go: TransformFunc). Must keep `metadata`. */
  readonly transform?: (object: T) => T;
  /** The kind may not be installed; until then the cache is empty. */
  readonly isOptional?: boolean;
}

export interface CacheSetOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Registry | undefined;
  /** Source of jitter. */
  readonly random?: (() => number) | undefined;
}

const syncErrorIntervalMs = 60_000;

/** A resource without its first list, and why it did not come when it was last requested. */
export interface Unsynced {
  readonly resource: string;
  readonly lastError: string | undefined;
  readonly code: KubeErrorCode | undefined;
}

interface Entry {
  readonly kind: Kind;
  readonly store: Store<KubeObject>;
  readonly lag: WatchLag | undefined;
  readonly reflector: Reflector;
  readonly isOptional: boolean;
  isComplete: boolean;
}

/**
 * The informers of one process, one per kind.
 *
 * Guarantees: after `start` every cache is synced; a write of this process through the client is in the cache when it
 * returns; a lost watch is resumed, or replaced by a relist. Assumes that resourceVersions of one resource are integers
 * that grow, as every API server since 1.35 promises.
 */
export class CacheSet {
  readonly #options: CacheSetOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #strings = new InternedStrings();
  readonly #relists: Counter | undefined;
  readonly #lags: Histogram | undefined;
  readonly #stop = new AbortController();
  #nextSyncErrorAt = Number.NEGATIVE_INFINITY;
  readonly #ownWrites: Disposable;
  #running: Promise<void>[] = [];
  #started: Promise<void> | undefined;
  #toleratesMissing = false;
  #reportedCodes = '';

  constructor(options: CacheSetOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#relists =
      metrics &&
      new Counter({
        name: 'kube_cache_lists_total',
        help: 'Complete lists: at start, after an expired watch, and when this replica starts to lead or gains keys',
        labelNames: ['resource'],
        registers: [metrics],
      });
    this.#lags = metrics && watchLagHistogram(metrics);
    this.#ownWrites = options.client.observeOwnWrites({
      wrote: (kind, object) =>
        isGone(object) ? this.#entries.get(nameOf(kind))?.store.remove(object) : this.#upsertIfNewer(kind, object),
      deleted: (kind, ref, uid) => this.#entries.get(nameOf(kind))?.store.removeByUid(keyOf(ref), uid),
    });
  }

  /** Declares a watch. A second call for a kind returns the first cache, with its indexes added. */
  watch<T extends KubeObject>(kind: Kind<T>, options: CacheOptions<T> = {}): Cache<T> {
    const known = this.#entries.get(nameOf(kind));
    const entry = known ?? this.#declare(kind, options);
    // The entry was declared under the name of this kind, so its objects are of this kind.
    const store = entry.store as unknown as Store<T>;
    store.addIndexes(options.indexes ?? {});
    return store;
  }

  of<T extends KubeObject>(kind: Kind<T>): Cache<T> {
    const entry = this.#entries.get(nameOf(kind));
    if (entry === undefined) throw new TypeError(`no watch was declared for ${kind.kind}; call watch first`);
    return entry.store as unknown as Store<T>; // declared under the name of this kind
  }

  /** Starts all watches, once; resolves when every cache is synced. */
  start(signal?: AbortSignal): Promise<void> {
    signal?.addEventListener('abort', () => this.#stop.abort(signal.reason), { once: true });
    this.#started ??= this.#startAll();
    return this.#started;
  }

  /**
   * Lists every kind: the caches then have all writes, of any client, before the call. A watch alone lags, and its lag is
   * unknown. Rejects with the KubeError of the first list that fails, after aborting the others; rejects when aborted.
   */
  async relist(aborted?: AbortSignal): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, over.signal, ...(aborted === undefined ? [] : [aborted])]);
    try {
      await Promise.all([...this.#entries.values()].map(({ reflector }) => reflector.relist(signal)));
    } finally {
      over.abort(new Error('another list failed'));
    }
  }

  /** Kinds that are not optional, as `plural.group`. */
  get required(): readonly string[] {
    return [...this.#entries.values()].filter(({ isOptional }) => !isOptional).map(({ kind }) => nameOf(kind));
  }

  /** Kinds, except optional ones, of which the API server answered last that they are not installed. */
  get missing(): readonly string[] {
    return [...this.#entries.values()]
      .filter(({ reflector, isOptional }) => reflector.isMissing && !isOptional)
      .map(({ kind }) => nameOf(kind));
  }

  /**
   * From now on a kind that is not installed counts as one without objects, so that `start` and `relist` do not wait for it.
   * For a process that may work without some of its kinds; they are used as soon as they are installed.
   */
  tolerateMissing(): void {
    this.#toleratesMissing = true;
    for (const { reflector } of this.#entries.values()) reflector.acceptMissing();
  }

  /** Resources whose initial list is incomplete, with the error of the last attempt. */
  get unsynced(): readonly Unsynced[] {
    return [...this.#entries.values()]
      .filter(({ isComplete }) => !isComplete)
      .map(({ kind, reflector: { lastError, lastCode: code } }) => ({ resource: kind.plural, lastError, code }));
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('caches are stopping'));
    this.#ownWrites[Symbol.dispose]();
    await Promise.allSettled(this.#running);
  }

  /** Warns about caches that never synced. A lost watch usually resumes soon and is not reported. */
  #reportSyncError(): void {
    const { clock, log } = this.#options;
    const { unsynced } = this;
    const failed = unsynced.filter(({ lastError }) => lastError !== undefined);
    const codes = [...new Set(failed.map(({ code }) => code))];
    const isReported = codes.join() === this.#reportedCodes && clock.now() < this.#nextSyncErrorAt;
    if (failed.length === 0 || isReported) return;
    this.#reportedCodes = codes.join();
    this.#nextSyncErrorAt = clock.now() + syncErrorIntervalMs;
    for (const code of codes) {
      // The others probably fail alike, unless a kind is missing.
      const isConcerned = (one: Unsynced) => one.code === code || (one.lastError === undefined && code !== 'NotFound');
      const concerned = unsynced.filter(isConcerned);
      const resources = concerned.map(({ resource }) => resource);
      const error = concerned.find(({ lastError }) => lastError !== undefined)?.lastError;
      log.warn({ resources, code, error }, `initial lists failed; retrying: ${syncRemedy(code)}`);
    }
  }

  #upsertIfNewer(kind: Kind, object: KubeObject): void {
    const entry = this.#entries.get(nameOf(kind));
    if (entry?.store.upsertIfNewer(object) === true) entry.lag?.wrote(object.metadata.resourceVersion);
  }

  async #startAll(): Promise<void> {
    const reflectors = [...this.#entries.values()].map(({ reflector }) => reflector);
    this.#running = reflectors.map((reflector) => reflector.run(this.#stop.signal));
    await Promise.race([
      Promise.all(reflectors.map((reflector) => reflector.synced)),
      rejectOnAbort(this.#stop.signal),
    ]);
  }

  #declare<T extends KubeObject>(kind: Kind<T>, options: CacheOptions<T>): Entry {
    const { client, clock, log, random = Math.random } = this.#options;
    // The objects of a store are of the kind that it was declared for.
    const transform = options.transform as ((object: KubeObject) => KubeObject) | undefined;
    const store = new Store<KubeObject>(this.#strings, transform);
    const lag = this.#lags && new WatchLag({ clock, histogram: this.#lags, resource: kind.plural });
    const onSyncError = () => this.#reportSyncError();
    const onList = () => this.#relists?.inc({ resource: kind.plural });
    const { namespace, labelSelector, fieldSelector, isOptional = false } = options;
    const reflector = new Reflector({
      kind,
      client,
      clock,
      random,
      log,
      store,
      lag,
      onList,
      onSyncError,
      isOptional,
      toleratesMissing: () => this.#toleratesMissing,
      scope: { namespace, labelSelector, fieldSelector },
    });
    const entry: Entry = { kind, store, lag, reflector, isOptional, isComplete: false };
    void reflector.synced.then(() => {
      entry.isComplete = true;
    });
    this.#entries.set(nameOf(kind), entry);
    return entry;
  }
}

const nameOf = ({ group, plural }: Kind): string => `${plural}.${group}`;

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = () =>
      reject(signal.reason instanceof Error ? signal.reason : new Error('stopped before the caches were complete'));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** A write removed its last finalizer, which deletes the object. The response has the version from before. */
const isGone = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;

import { defaultFieldManager } from './field-managers.ts';
import type { Registry } from 'prom-client';
import type { Dispatcher } from 'undici';
import { asFailedTest } from './status-errors.ts';
import type { Call, JsonPatchOperation } from './call.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import type { PoolName } from './connections.ts';
import { KubeError } from '../errors.ts';
import type { Kind, KubeObject, ObjectMeta, ObjectRef, NewObject } from '../kinds/kind.ts';
import { linesOf } from './lines.ts';
import { collectionOf, pathOf, query, selectors } from './paths.ts';
import { RequestSender, type RequestSenderOptions, requestMetrics } from './request-sender.ts';
import type { CallOptions, Page, WriteOptions, PatchOptions, ListOptions } from './options.ts';
import type { WatchOptions, WatchEvent } from './watch-events.ts';
import { initialEvents } from './watch-events.ts';
import type { OwnWriteObserver, Deletion } from './own-write-observer.ts';
import { Transport, type TransportOptions } from './transport.ts';

export interface KubeClientOptions extends TransportOptions {
  readonly defaultFieldManager?: string | undefined;
  readonly metrics?: Registry | undefined;
  /** Measures the pauses of `Retry-After`. */
  readonly clock?: Clock | undefined;
}

/**
 * Typed access to the API server.
 *
 * Every method rejects with KubeError. Reads and guarded writes are safe to repeat. The client repeats a request once after 401,
 * and twice after 429 or 503 with `Retry-After`.
 */
export class KubeClient implements AsyncDisposable {
  readonly #options: KubeClientOptions;
  readonly #shared: Shared;
  readonly #requests: RequestSender;
  readonly #fieldManager: string;

  /** `shared` and `pool` are for `withPool`. */
  constructor(options: KubeClientOptions, shared: Shared = sharedOf(options), pool: PoolName = 'work') {
    this.#options = options;
    this.#shared = shared;
    this.#requests = new RequestSender(shared, pool);
    this.#fieldManager = options.defaultFieldManager ?? defaultFieldManager;
  }

  /** The same client over the connections of another pool. It ends with this one. */
  withPool(pool: PoolName): KubeClient {
    return new KubeClient(this.#options, this.#shared, pool);
  }

  /** The same client with another default field manager. It ends with this one. */
  withFieldManager(defaultFieldManager: string): KubeClient {
    return new KubeClient({ ...this.#options, defaultFieldManager }, this.#shared);
  }

  /** Passes every object that a write returns to the observer, until disposed. */
  observeOwnWrites(observer: OwnWriteObserver): Disposable {
    this.#shared.ownWriteObservers.add(observer);
    return { [Symbol.dispose]: () => void this.#shared.ownWriteObservers.delete(observer) };
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options: CallOptions = {}): Promise<T> {
    return this.#json(kind, 'get', { method: 'GET', path: pathOf(kind, ref), signal: options.signal });
  }

  /** Only the metadata, as PartialObjectMetadata (meta.k8s.io/v1), for objects that are large. */
  async getMetadata(kind: Kind, ref: ObjectRef, options: CallOptions = {}): Promise<Pick<KubeObject, 'metadata'>> {
    const call = { method: 'GET', path: pathOf(kind, ref), accept: metadataOnly, signal: options.signal } as const;
    return this.#json(kind, 'get', call);
  }

  /** Like `get`, but undefined when there is none. */
  async find<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options: CallOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(kind, ref, options);
    } catch (error) {
      if (error instanceof KubeError && error.code === 'NotFound') return undefined;
      throw error;
    }
  }

  /** All matching objects, read page by page. After an expired page token the list starts again, once. */
  async list<T extends KubeObject>(
    kind: Kind<T>,
    options: ListOptions = {},
  ): Promise<{ items: T[]; resourceVersion: string }> {
    try {
      return await this.#wholeList(kind, options);
    } catch (error) {
      if (error instanceof KubeError && error.code === 'Expired') return this.#wholeList(kind, options);
      throw error;
    }
  }

  /** Matching objects, one page at a time. Rejects with Expired if the page token expires. */
  async *pages<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): AsyncGenerator<Page<T>> {
    let next: string | undefined;
    do {
      const path = `${collectionOf(kind, options.namespace)}${query({ ...selectors(options), limit: String(options.pageSize ?? 500), continue: next })}`;
      const page = await this.#requests.send<{
        items: T[] | null;
        metadata: { resourceVersion: string; continue?: string };
      }>('list', kind.plural, { method: 'GET', path, signal: options.signal });
      // List items have no apiVersion and kind.
      const items = (page.items ?? []).map((item) => ({ ...item, apiVersion: kind.apiVersion, kind: kind.kind }));
      yield { items, resourceVersion: page.metadata.resourceVersion };
      next = page.metadata.continue === '' ? undefined : page.metadata.continue;
    } while (next !== undefined);
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: NewObject<T>, options: WriteOptions = {}): Promise<T> {
    const body = { apiVersion: kind.apiVersion, kind: kind.kind, ...object };
    const path = `${collectionOf(kind, object.metadata.namespace)}${query({ fieldManager: this.#manager(options) })}`;
    return this.#write(kind, 'create', {
      method: 'POST',
      path,
      body,
      contentType: 'application/json',
      signal: options.signal,
    });
  }

  /** RFC 7386: null removes, lists are replaced whole. */
  async mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    patch: object,
    options: PatchOptions = {},
  ): Promise<T> {
    const body = options.resourceVersion === undefined ? patch : guarded(patch, options.resourceVersion);
    return this.#patch(
      kind,
      ref,
      'application/merge-patch+json',
      body,
      { fieldManager: this.#manager(options) },
      options,
    );
  }

  /** RFC 6902. A failed `test` is a Conflict. */
  async jsonPatch<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    operations: readonly JsonPatchOperation[],
    options: WriteOptions = {},
  ): Promise<T> {
    const parameters = { fieldManager: this.#manager(options) };
    try {
      return await this.#patch(kind, ref, 'application/json-patch+json', operations, parameters, options);
    } catch (error) {
      throw asFailedTest(error, operations);
    }
  }

  /** Server-side apply. `metadata.resourceVersion`, when given, guards the write. */
  async apply<T extends KubeObject>(
    kind: Kind<T>,
    object: { metadata: ObjectRef & Partial<ObjectMeta>; [field: string]: unknown },
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<T> {
    const body = { apiVersion: kind.apiVersion, kind: kind.kind, ...object };
    const force = options.force === true ? 'true' : undefined;
    return this.#patch(
      kind,
      object.metadata,
      'application/apply-patch+yaml',
      body,
      { fieldManager: options.fieldManager, force },
      options,
    );
  }

  /** Deletes the object if it has that UID and version. A missing object is success. */
  async delete(
    kind: Kind,
    ref: ObjectRef,
    options: CallOptions & {
      readonly uid?: string | undefined;
      readonly resourceVersion?: string | undefined;
      readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
    } = {},
  ): Promise<void> {
    const preconditions = {
      ...(options.uid && { uid: options.uid }),
      ...(options.resourceVersion && { resourceVersion: options.resourceVersion }),
    };
    const body = JSON.stringify({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions,
      propagationPolicy: options.propagation ?? 'Background',
    });
    try {
      const response = await this.#json<Deletion>(kind, 'delete', {
        method: 'DELETE',
        path: pathOf(kind, ref),
        body,
        contentType: 'application/json',
        signal: options.signal,
      });
      this.#notifyDeletion(kind, ref, response);
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'NotFound') throw error;
    }
  }

  /** Any request to the API server, for endpoints that are not kinds, such as discovery. */
  raw<T>(options: { method: Dispatcher.HttpMethod; path: string; body?: object; signal?: AbortSignal }): Promise<T> {
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    return this.#requests.send<T>('raw', 'raw', {
      method: options.method,
      path: options.path,
      body,
      contentType: 'application/json',
      signal: options.signal,
    });
  }

  /** One watch request, event by event, until the server ends it. A Reflector keeps a watch open. */
  async *watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const { namespace, resourceVersion, timeoutSeconds, signal } = options;
    const parameters = {
      ...selectors(options),
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(timeoutSeconds),
      ...(resourceVersion === undefined ? initialEvents : { resourceVersion }),
    };
    const path = `${collectionOf(kind, namespace)}${query(parameters)}`;
    const call: Call = { method: 'GET', path, signal };
    const { body } = await this.#requests.stream('watch', kind.plural, call);
    yield* linesOf<WatchEvent<T>>(body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#shared.transport[Symbol.asyncDispose]();
  }

  #notifyDeletion(kind: Kind, ref: ObjectRef, response: Deletion): void {
    const uid = response.details?.uid;
    for (const observer of this.#shared.ownWriteObservers) {
      if (response.kind === kind.kind) observer.wrote(kind, response);
      else if (uid !== undefined) observer.deleted(kind, ref, uid);
    }
  }

  #manager(options: WriteOptions): string {
    return options.fieldManager ?? this.#fieldManager;
  }

  async #wholeList<T extends KubeObject>(
    kind: Kind<T>,
    options: ListOptions,
  ): Promise<{ items: T[]; resourceVersion: string }> {
    const list: { items: T[]; resourceVersion: string } = { items: [], resourceVersion: '' };
    for await (const { items, resourceVersion } of this.pages(kind, options)) {
      for (const item of items) list.items.push(item);
      list.resourceVersion = resourceVersion;
    }
    return list;
  }

  #patch<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    contentType: string,
    body: object,
    parameters: Record<string, string | undefined>,
    options: WriteOptions,
  ): Promise<T> {
    const path = `${pathOf(kind, ref, options.subresource)}${query(parameters)}`;
    const verb = contentType.includes('apply') ? 'apply' : 'patch';
    return this.#write(kind, verb, { method: 'PATCH', path, body, contentType, signal: options.signal });
  }

  async #write<T extends KubeObject>(
    kind: Kind<T>,
    verb: string,
    call: Omit<Call, 'body'> & { body: object },
  ): Promise<T> {
    const object = await this.#json<T>(kind, verb, { ...call, body: JSON.stringify(call.body) });
    for (const observer of this.#shared.ownWriteObservers) observer.wrote(kind, object);
    return object;
  }

  #json<T>(kind: Kind, verb: string, call: Call): Promise<T> {
    return this.#requests.send<T>(verb, kind.plural, kind.isUrgent === true ? { ...call, pool: 'urgent' } : call);
  }
}

const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

interface Shared extends RequestSenderOptions {
  readonly ownWriteObservers: Set<OwnWriteObserver>;
}

const sharedOf = (options: KubeClientOptions): Shared => ({
  transport: new Transport(options),
  clock: options.clock ?? systemClock,
  metrics: requestMetrics(options.metrics),
  ownWriteObservers: new Set(),
});

export const createKubeClient = (options: KubeClientOptions): KubeClient => new KubeClient(options);

function guarded(patch: object, resourceVersion: string): object {
  const metadata = 'metadata' in patch && typeof patch.metadata === 'object' ? patch.metadata : {};
  return { ...patch, metadata: { ...metadata, resourceVersion } };
}

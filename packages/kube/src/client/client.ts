import { Counter, type Registry } from 'prom-client';
import type { Dispatcher } from 'undici';
import { asFailedTest, connectionError, errorFrom } from './status-errors.ts';
import type { Call, JsonPatchOperation } from './call.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import type { ApiResponse } from './read-response.ts';
import type { PoolName } from './connections.ts';
import { KubeError } from '../errors.ts';
import type { Kind, KubeObject, ObjectMeta, ObjectRef, NewObject } from '../kinds/kind.ts';
import { linesOf } from './lines.ts';
import { collectionOf, pathOf, query, selectors } from './paths.ts';
import { Transport, type TransportOptions } from './transport.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string | undefined;
  readonly subresource?: 'status' | undefined;
}

export interface PatchOptions extends WriteOptions {
  /** The write fails with Conflict unless the object is still at this version. */
  readonly resourceVersion?: string | undefined;
}

export interface ListOptions extends CallOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects per request; the pages are put together here. */
  readonly pageSize?: number | undefined;
}

export interface WatchOptions extends Omit<ListOptions, 'pageSize'> {
  /** Where to go on. Without one the watch begins with all there is, up to an event that `endsList`. */
  readonly resourceVersion: string | undefined;
  readonly timeoutSeconds: number;
}

/** What happened to an object. */
export interface ObjectEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

export type WatchEvent<T> =
  | ObjectEvent<T>
  | { readonly type: 'ERROR'; readonly object: { code?: number; message?: string } };

export interface Page<T> {
  readonly items: readonly T[];
  /** Of the whole list: that of its last page counts. */
  readonly resourceVersion: string;
}

export interface KubeClientOptions extends TransportOptions {
  readonly defaultFieldManager?: string | undefined;
  readonly metrics?: Registry | undefined;
  /** Times the pauses that a busy server asks for. */
  readonly clock?: Clock | undefined;
}

/** Hears what this process wrote, so that caches can show its own writes at once. */
export interface OwnWriteObserver {
  /** A write returned the object. */
  wrote(kind: Kind, object: KubeObject): void;
  /** The object with this UID no longer exists. */
  deleted(kind: Kind, ref: ObjectRef, uid: string): void;
}

/** What all lanes of a client have in common. */
interface Shared {
  readonly transport: Transport;
  readonly ownWriteObservers: Set<OwnWriteObserver>;
  readonly requests: Counter | undefined;
  readonly hostRequests: Counter | undefined;
}

/** What the API server answers to a deletion: the object if finalizers keep it, else a Status that names it. */
interface Deletion extends KubeObject {
  details?: { uid?: string };
}

/**
 * Typed access to the API server.
 *
 * Every method rejects with KubeError. Reads and guarded writes are safe to repeat; nothing is repeated here, except
 * once after the credentials were refused, and twice after the pause that a busy server asks for.
 */
export class KubeClient implements AsyncDisposable {
  readonly #options: KubeClientOptions;
  readonly #shared: Shared;
  readonly #pool: PoolName;
  readonly #fieldManager: string;
  readonly #clock: Clock;

  /** `part` is how a client makes another of its lanes: use `inLane`. */
  constructor(options: KubeClientOptions, part?: { readonly shared: Shared; readonly pool: PoolName }) {
    this.#options = options;
    this.#shared = part?.shared ?? sharedOf(options);
    this.#pool = part?.pool ?? 'work';
    this.#clock = options.clock ?? systemClock;
    this.#fieldManager = options.defaultFieldManager ?? 'metal-operator';
  }

  /** The same client over connections of another lane. It ends with this one. */
  withPool(pool: PoolName): KubeClient {
    return new KubeClient(this.#options, { shared: this.#shared, pool });
  }

  /** Hands every object that a write returns to the listener, until disposed. */
  observeOwnWrites(observer: OwnWriteObserver): Disposable {
    this.#shared.ownWriteObservers.add(observer);
    return { [Symbol.dispose]: () => void this.#shared.ownWriteObservers.delete(observer) };
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options: CallOptions = {}): Promise<T> {
    return this.#json(kind, 'get', { method: 'GET', path: pathOf(kind, ref), signal: options.signal });
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

  /** All matching objects, read page by page. An expired page token starts over. */
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

  /** The same for who need not have all of them at once. Rejects with Expired when the pages took too long. */
  async *pages<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): AsyncGenerator<Page<T>> {
    let next: string | undefined;
    do {
      const path = `${collectionOf(kind, options.namespace)}${query({ ...selectors(options), limit: String(options.pageSize ?? 500), continue: next })}`;
      const page = await this.#send<{ items: T[] | null; metadata: { resourceVersion: string; continue?: string } }>(
        'list',
        kind.plural,
        { method: 'GET', path, signal: options.signal },
      );
      // List items come without apiVersion and kind.
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

  /** RFC 6902. A `test` that does not hold is a Conflict. */
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

  /** Deletes, if still the one with that UID and version. Already gone is success. */
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

  /** Any request to the API server; for endpoints that are no kinds, such as token reviews. */
  raw<T>(options: { method: Dispatcher.HttpMethod; path: string; body?: object; signal?: AbortSignal }): Promise<T> {
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    return this.#send<T>('raw', 'raw', {
      method: options.method,
      path: options.path,
      body,
      contentType: 'application/json',
      signal: options.signal,
    });
  }

  /** One watch request, event by event, until the server ends it. Whoever wants it to go on uses a Reflector. */
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
    const { body } = await this.#request('watch', kind.plural, call, () => this.#shared.transport.stream(call));
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
    return this.#send<T>(verb, kind.plural, kind.isUrgent === true ? { ...call, pool: 'urgent' } : call);
  }

  async #send<T>(verb: string, resource: string, call: Call): Promise<T> {
    const { text } = await this.#request(verb, resource, call, () =>
      this.#shared.transport.request({ pool: this.#pool, ...call }),
    );
    try {
      // The API server validated the object against the schema its type is derived from.
      return JSON.parse(text) as T;
    } catch (error) {
      throw connectionError(error, call);
    }
  }

  async #request<A extends ApiResponse>(
    verb: string,
    resource: string,
    call: Call,
    send: () => Promise<A>,
  ): Promise<A> {
    this.#shared.requests?.inc({ verb, resource });
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#attempt(call, send);
      if (response.status < 300) return response;
      const error = errorFrom(response, call);
      if (!(await this.#mayRepeat(error, attempt, call.signal))) throw error;
    }
  }

  /** True, after the pause that was asked for, when the request was refused before anything was done. */
  async #mayRepeat(
    { code, status, retryAfterMs }: KubeError,
    attempt: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (code === 'Unauthorized') {
      this.#shared.transport.invalidateCredentials();
      return attempt === 1;
    }
    const busy = status === 429 || status === 503;
    if (!busy || retryAfterMs === undefined || retryAfterMs > longestRetryAfterMs || attempt > 2) return false;
    return this.#clock.sleep(retryAfterMs, signal).then(
      () => true,
      () => false,
    );
  }

  async #attempt<A extends ApiResponse>(call: Call, send: () => Promise<A>): Promise<A> {
    try {
      const response = await send();
      this.#shared.hostRequests?.inc({ code: response.status, method: call.method, host: this.#shared.transport.host });
      return response;
    } catch (error) {
      throw connectionError(error, call);
    }
  }
}

function sharedOf(options: KubeClientOptions): Shared {
  const registers = options.metrics === undefined ? undefined : [options.metrics];
  const requests =
    registers &&
    new Counter({
      name: 'kube_client_requests_total',
      help: 'Requests to the API server',
      labelNames: ['verb', 'resource'],
      registers,
    });
  const hostRequests =
    registers &&
    new Counter({
      name: 'rest_client_requests_total',
      help: 'Requests to the API server by answer',
      labelNames: ['code', 'method', 'host'],
      registers,
    });
  return { transport: new Transport(options), ownWriteObservers: new Set(), requests, hostRequests };
}

/** Refused by API servers before 1.27, and by later ones where streamed lists are switched off. */
const initialEvents = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };

/** The bookmark after the last of what was there when a watch began. */
export const endsList = (event: ObjectEvent<KubeObject>): boolean =>
  event.type === 'BOOKMARK' && event.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';

/** A server that asks for a longer pause is told to the caller, who knows whether it is worth waiting. */
const longestRetryAfterMs = 10_000;

export const createKubeClient = (options: KubeClientOptions): KubeClient => new KubeClient(options);

function guarded(patch: object, resourceVersion: string): object {
  const metadata = 'metadata' in patch && typeof patch.metadata === 'object' ? patch.metadata : {};
  return { ...patch, metadata: { ...metadata, resourceVersion } };
}

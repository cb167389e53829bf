import type { Logger } from 'pino';
import { type KubeClient } from '../client/client.ts';
import type { Clock } from '../runtime/clock.ts';
import { isNotFound, KubeError, type KubeErrorCode } from '../errors.ts';
import type { Kind, KubeObject } from '../kinds/kind.ts';
import type { ListReplacement, Store } from './store.ts';
import { endsList, type WatchEvent } from '../client/watch-events.ts';
import { endedEarly, isInvalid, messageOf, objectEventOf } from './reflector-errors.ts';
import type { WatchLag } from './watch-lag.ts';

export interface ReflectorOptions {
  readonly kind: Kind;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly store: Store<KubeObject>;
  readonly lag: WatchLag | undefined;
  readonly onList: () => void;
  /** A request failed. */
  readonly onSyncError: () => void;
  /** The kind may not be installed. */
  readonly isOptional: boolean;
  /** The process works although this kind is not installed: there are no objects of it. */
  readonly toleratesMissing?: (() => boolean) | undefined;
  readonly scope: {
    namespace?: string | undefined;
    labelSelector?: string | undefined;
    fieldSelector?: string | undefined;
  };
}

/** The server ends a watch after once to twice this time; resuming costs one request. */
const watchTimeoutSeconds = 300;
const firstPauseMs = 200;
const longestPauseMs = 10_000;
/** While a kind is not installed, though it is needed. */
const missingPauseMs = 2_000;
/** A kind that is installed later is found after this long. */
const absentPauseMs = 60_000;

/**
 * Keeps one store equal to the API server:
 *
 *   watch with initial events ──► events, bookmarks ──► (ended, lost) watch from the last resourceVersion
 *     ▲                                                              │
 *     └───────────────── version too old (410) ◄─────────────────────┘
 *
 * If the API server rejects a watch with initial events, it lists in pages and then watches.
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #synced = Promise.withResolvers<void>();
  #version: string | undefined;
  #listsAreStreamed = true;
  #pauseMs = firstPauseMs;
  #failure: { readonly message: string; readonly code: KubeErrorCode | undefined } | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
  }

  /** Resolves once the initial list is in the store, or an optional kind is not installed. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Error of the last request; undefined after a success. */
  get lastError(): string | undefined {
    return this.#failure?.message;
  }

  get lastCode(): KubeErrorCode | undefined {
    return this.#failure?.code;
  }

  /** The API server answers that there is no such kind. */
  get isMissing(): boolean {
    return this.lastCode === 'NotFound';
  }

  /** It is known that there are no objects: the kind is not installed, and may be missing. */
  acceptMissing(): void {
    if (this.isMissing && this.#mayBeMissing) this.#synced.resolve();
  }

  get #mayBeMissing(): boolean {
    return this.#options.isOptional || this.#options.toleratesMissing?.() === true;
  }

  /** Runs until the signal is aborted; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#version !== undefined) await this.#watch(this.#version, signal);
        else if (this.#listsAreStreamed) await this.#listAndWatch(signal);
        else await this.#listInPages(signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  /**
   * Lists, beside the watch: afterwards the store has all writes before the call. A list without a resourceVersion, streamed
   * or in pages, is no older than its request.
   */
  async relist(signal: AbortSignal): Promise<void> {
    const replacement = this.#beginList();
    try {
      replacement.commit(await this.#takeAll(replacement, signal));
    } catch (error) {
      if (!this.#mayBeMissing || !isNotFound(error)) throw error;
    }
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    for await (const event of this.#events(resourceVersion, signal)) this.#applyWatchEvent(event);
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    const replacement = this.#beginList();
    for await (const event of this.#events(undefined, signal)) {
      if (this.#version !== undefined) {
        this.#applyWatchEvent(event);
        continue;
      }
      const version = this.#applyListEvent(replacement, event);
      if (version !== undefined) this.#commit(replacement, version);
    }
    if (this.#version === undefined) throw endedEarly(this.#options.kind.plural);
  }

  async #listInPages(signal: AbortSignal): Promise<void> {
    const replacement = this.#beginList();
    this.#commit(replacement, await this.#takePages(replacement, signal));
  }

  /** Resolves with the list's resourceVersion. */
  async #takeAll(replacement: ListReplacement<KubeObject>, signal: AbortSignal): Promise<string> {
    if (this.#listsAreStreamed) {
      try {
        return await this.#takeStream(replacement, signal);
      } catch (error) {
        if (!isInvalid(error)) throw error;
        this.#switchToPages(error);
      }
    }
    return this.#takePages(replacement, signal);
  }

  async #takeStream(replacement: ListReplacement<KubeObject>, signal: AbortSignal): Promise<string> {
    for await (const event of this.#events(undefined, signal)) {
      const version = this.#applyListEvent(replacement, event);
      if (version !== undefined) return version;
    }
    throw endedEarly(this.#options.kind.plural);
  }

  async #takePages(replacement: ListReplacement<KubeObject>, signal: AbortSignal): Promise<string> {
    const { client, kind, scope } = this.#options;
    let version = '';
    for await (const { items, resourceVersion } of client.pages(kind, { ...scope, signal })) {
      for (const item of items) replacement.upsert(item);
      version = resourceVersion;
    }
    return version;
  }

  #events(resourceVersion: string | undefined, signal: AbortSignal): AsyncIterable<WatchEvent<KubeObject>> {
    const { client, kind, scope, random } = this.#options;
    // Jitter: watches that began together would end together.
    const timeoutSeconds = Math.round(watchTimeoutSeconds * (1 + random()));
    return client.watch(kind, { ...scope, resourceVersion, timeoutSeconds, signal });
  }

  #beginList(): ListReplacement<KubeObject> {
    this.#options.onList();
    return this.#options.store.listReplacement();
  }

  #commit(replacement: ListReplacement<KubeObject>, resourceVersion: string): void {
    replacement.commit(resourceVersion);
    this.#options.lag?.forget();
    this.#version = resourceVersion;
    this.#pauseMs = firstPauseMs;
    this.#failure = undefined;
    this.#synced.resolve();
  }

  /** The resourceVersion of the list at its last event. Listed objects may be deleted before that. */
  #applyListEvent(replacement: ListReplacement<KubeObject>, event: WatchEvent<KubeObject>): string | undefined {
    const listEvent = objectEventOf(event, this.#options.kind.plural);
    const { type, object } = listEvent;
    if (endsList(listEvent)) return object.metadata.resourceVersion;
    if (type === 'DELETED') replacement.remove(object);
    else if (type !== 'BOOKMARK') replacement.upsert(object);
    return undefined;
  }

  #applyWatchEvent(event: WatchEvent<KubeObject>): void {
    const { store, lag } = this.#options;
    const { type, object } = objectEventOf(event, this.#options.kind.plural);
    if (type === 'DELETED') store.remove(object);
    if (type === 'ADDED' || type === 'MODIFIED') store.upsertIfNewer(object);
    if (type !== 'BOOKMARK') lag?.arrived(object.metadata.resourceVersion);
    this.#version = object.metadata.resourceVersion ?? this.#version;
    this.#pauseMs = firstPauseMs;
    this.#failure = undefined;
  }

  /** Lists again after 410: deletions were missed. After any other error it resumes with backoff. */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const code = error instanceof KubeError ? error.code : undefined;
    // A kind that is installed again has other objects.
    if (code === 'Expired' || code === 'NotFound') this.#version = undefined;
    if (isInvalid(error) && this.#version === undefined && this.#listsAreStreamed) return this.#switchToPages(error);
    this.#failure = { message: messageOf(error), code };
    this.acceptMissing();
    if (this.#options.isOptional && code === 'NotFound') return this.#waitForKind(signal);
    await this.#pause(signal);
  }

  #switchToPages(error: KubeError): void {
    const { kind, log } = this.#options;
    this.#listsAreStreamed = false;
    log.debug({ resource: kind.plural, error: error.message }, 'streamed lists are rejected, listing in pages');
  }

  async #waitForKind(signal: AbortSignal): Promise<void> {
    this.#version = undefined;
    this.#synced.resolve();
    await this.#options.clock.sleep(absentPauseMs, signal).catch(() => undefined);
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { log, kind, clock, random } = this.#options;
    const pauseMs = Math.min(this.#pauseMs, this.isMissing ? missingPauseMs : longestPauseMs) * (0.5 + random() / 2);
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    log.debug({ resource: kind.plural, error: this.lastError, pauseMs: Math.round(pauseMs) }, 'watch lost, resuming');
    this.#options.onSyncError();
    await clock.sleep(pauseMs, signal).catch(() => undefined);
  }
}

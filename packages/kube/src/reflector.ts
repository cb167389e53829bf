import type { Logger } from 'pino';
import type { KubeClient, WatchEvent } from './client.ts';
import type { Clock } from './clock.ts';
import { KubeError } from './errors.ts';
import type { Kind, KubeObject } from './kind.ts';
import type { Store } from './store.ts';

export interface ReflectorOptions {
  readonly kind: Kind;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store<KubeObject>;
  readonly onList: () => void;
  /** The kind may not be installed. */
  readonly isOptional: boolean;
  readonly scope: {
    namespace?: string | undefined;
    labelSelector?: string | undefined;
    fieldSelector?: string | undefined;
  };
}

/** The server ends a watch after this long; resuming costs one request. */
const watchTimeoutSeconds = 300;
const firstPauseMs = 200;
const longestPauseMs = 10_000;
/** Somebody who installs a kind later is noticed after this long. */
const absentPauseMs = 60_000;

/**
 * Keeps one store equal to the API server:
 *
 *   list ──► watch from its version ──► events, bookmarks ──► (ended, lost) watch again from the last version
 *     ▲                                                              │
 *     └───────────────── version too old (410) ◄─────────────────────┘
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #synced = Promise.withResolvers<void>();
  #version: string | undefined;
  #pauseMs = firstPauseMs;

  constructor(options: ReflectorOptions) {
    this.#options = options;
  }

  /** Resolves once the first list is in the store, or it is known that there is none to be had. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Runs until the signal is aborted; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#version ??= await this.#list(signal);
        await this.#watch(this.#version, signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { client, kind, store, scope, onList } = this.#options;
    onList();
    const { items, resourceVersion } = await client.list(kind, { ...scope, signal });
    store.replace(items, resourceVersion);
    this.#pauseMs = firstPauseMs;
    this.#synced.resolve();
    return resourceVersion;
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { client, kind, scope } = this.#options;
    for await (const event of client.watch(kind, {
      ...scope,
      resourceVersion,
      timeoutSeconds: watchTimeoutSeconds,
      signal,
    })) {
      this.#take(event);
    }
  }

  #take(event: WatchEvent<KubeObject>): void {
    const { store } = this.#options;
    if (event.type === 'ERROR') {
      const { code, message = '' } = event.object;
      throw new KubeError({
        code: code === 410 ? 'Expired' : 'ServerError',
        status: code,
        message: `watch of ${this.#options.kind.plural} ended: ${message}`,
      });
    }
    if (event.type === 'DELETED') store.remove(event.object);
    if (event.type === 'ADDED' || event.type === 'MODIFIED') store.absorb(event.object);
    this.#version = event.object.metadata.resourceVersion ?? this.#version;
    this.#pauseMs = firstPauseMs;
  }

  /** A version that is too old means that deletions were missed: list again. Anything else resumes after a pause. */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const { log, kind, clock, isOptional } = this.#options;
    if (error instanceof KubeError && error.code === 'Expired') this.#version = undefined;
    if (isOptional && error instanceof KubeError && error.code === 'NotFound') {
      this.#version = undefined;
      this.#synced.resolve();
      return clock.sleep(absentPauseMs, signal).catch(() => undefined);
    }
    const pauseMs = this.#pauseMs * (0.5 + Math.random() / 2);
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    log.debug(
      {
        resource: kind.plural,
        error: error instanceof Error ? error.message : String(error),
        pauseMs: Math.round(pauseMs),
      },
      'watch lost, resuming',
    );
    await clock.sleep(pauseMs, signal).catch(() => undefined);
  }
}

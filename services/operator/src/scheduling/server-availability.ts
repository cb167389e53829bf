import type { Server } from '@metal/api/v1alpha1/server.ts';
import { othersThan, sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { SortedNames } from '@metal/kube/runtime/sorted-names.ts';
import type { OperatorCaches } from '../caches.ts';
import { unavailableReason } from './eligibility.ts';

/** A server whose cached version is stale may be assigned again after this time, in case the cache never catches up. */
const staleTimeoutMs = seconds(10);

interface AvailabilityOptions {
  readonly servers: OperatorCaches['servers'];
  readonly clock: Clock;
  /** The server became free, or is still free and something else about it changed. */
  readonly onFree: (serverName: string) => void;
  /** The server is no longer free. */
  readonly onTaken: (serverName: string) => void;
  /** The cached version of a server became stale, or fresh again. */
  readonly onFreshnessChange: () => void;
}

/**
 * The servers that a claim may get, and the assumed bindings: as in kube-scheduler, a server that was chosen for a claim and
 * is not bound yet.
 *
 *   unavailable ◄──► free ──assume──► assumed ──forgetAssumed──► free
 *                                        └──bind failed──► stale ──change in the cache, or 10 s──► free
 *
 * A server is free while it is available by its own state, no binding of it is assumed and its cached version is not stale.
 */
export class ServerAvailability {
  /** Names of the free servers, in the order in which they are assigned. */
  readonly free = new SortedNames();
  readonly #options: AvailabilityOptions;
  /** Assumed bindings, from both sides. Only `assume`, `forgetAssumed` and `clear` change them. */
  readonly #serverOf = new Map<string, string>();
  readonly #claimOf = new Map<string, string>();
  /** Timers of servers whose binding failed, while the cache has no newer version of them. */
  readonly #stale = new Map<string, Disposable>();

  constructor(options: AvailabilityOptions) {
    this.#options = options;
  }

  /** Keys of the claims with an assumed binding. */
  get assumedClaims(): Iterable<string> {
    return this.#serverOf.keys();
  }

  serverOf(claimKey: string): string | undefined {
    return this.#serverOf.get(claimKey);
  }

  claimOf(serverName: string): string | undefined {
    return this.#claimOf.get(serverName);
  }

  isStale(serverName: string): boolean {
    return this.#stale.has(serverName);
  }

  assume(claimKey: string, serverName: string): void {
    this.#serverOf.set(claimKey, serverName);
    this.#claimOf.set(serverName, claimKey);
    this.refresh(serverName);
  }

  forgetAssumed(claimKey: string): void {
    const serverName = this.#serverOf.get(claimKey);
    if (serverName === undefined) return;
    this.#serverOf.delete(claimKey);
    this.#claimOf.delete(serverName);
    this.refresh(serverName);
  }

  /**
   * The API server has another state of the server than this version, by which it was assigned. If the cache still has this
   * version, the server is not assigned before it changes there: the same choice would fail as fast as the API server answers.
   */
  bindFailed({ metadata: { name, resourceVersion } }: Server): void {
    this.markFresh(name);
    if (this.#options.servers.get(name)?.metadata.resourceVersion !== resourceVersion) return;
    this.#stale.set(
      name,
      this.#options.clock.setTimeout(staleTimeoutMs, () => this.markFresh(name)),
    );
    this.#options.onFreshnessChange();
    this.refresh(name);
  }

  markFresh(serverName: string): void {
    this.#stale.get(serverName)?.[Symbol.dispose]();
    if (!this.#stale.delete(serverName)) return;
    this.#options.onFreshnessChange();
    this.refresh(serverName);
  }

  /** Recomputes whether the server is free. */
  refresh(name: string, { hasChanged = false } = {}): void {
    const wasFree = this.free.has(name);
    const isFree = this.#isAvailable(name) && !this.#claimOf.has(name) && !this.#stale.has(name);
    this.free.put(name, isFree);
    if (wasFree && !isFree) this.#options.onTaken(name);
    if (isFree && (!wasFree || hasChanged)) this.#options.onFree(name);
  }

  /** Names of the other servers with the system UUID of one of these versions: whether they are available may depend on it. */
  duplicatesOf(...versions: readonly (Server | undefined)[]): string[] {
    const duplicates = versions.flatMap((server) =>
      server === undefined ? [] : othersThan(server, sameUuidAs(server, this.#options.servers)),
    );
    return [...new Set(duplicates.map(({ metadata }) => metadata.name))];
  }

  clear(): void {
    for (const timer of this.#stale.values()) timer[Symbol.dispose]();
    for (const state of [this.#serverOf, this.#claimOf, this.#stale, this.free]) state.clear();
  }

  #isAvailable(name: string): boolean {
    const { servers } = this.#options;
    const server = servers.get(name);
    return server !== undefined && unavailableReason(server, sameUuidAs(server, servers)) === undefined;
  }
}

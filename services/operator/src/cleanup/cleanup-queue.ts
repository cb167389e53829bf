import type { Server } from '@metal/api/v1alpha1/server.ts';
import { cleanupAdmittedAnnotation } from '@metal/api/wire/contract.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { InFlightLimiter } from '@metal/kube/runtime/in-flight-limiter.ts';
import type { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { SortedList } from '@metal/kube/runtime/sorted-list.ts';

const hourMs = minutes(60);

/** A server in state Cleanup. */
interface Entry {
  readonly name: string;
  /** Order in the queue: since when the cleanup is needed, then the name. */
  readonly sortKey: string;
  readonly attempt: number;
  /** An attempt runs or may start. */
  readonly isAdmitted: boolean;
  /** The status reports that it waits in the queue. */
  readonly isQueued: boolean;
}

/** The position of a server in the queue over all servers. */
export interface QueuePosition {
  readonly ahead: number;
  readonly running: number;
  /** Servers that were admitted within the last hour. */
  readonly startedInHour: number;
  /** Until the oldest of those no longer counts. */
  readonly nextHourlySlotInMs: number;
  /** Free in-flight slots: an admitted server holds a slot until its machine has started. */
  readonly available: number;
}

/** The configured limits of cleanups. */
export interface CleanupLimits {
  readonly atOnce: number;
  readonly perHour: number;
}

/**
 * The servers that are cleaned up, that wait for it, and that started within the last hour. Updated with each change, so that a
 * rack that is released at once is not counted again for each of its servers.
 *
 * Only servers that report so are in the queue: a server that cannot be erased, for example because its BMC is unreachable, blocks
 * no other.
 *
 * Whatever the limits, cleanups start no faster than machines can be started, so that the first servers are clean soon:
 *
 *   thousands in the queue ──► 200 admitted, their machines not started yet ──► machines that erase, for as long as it takes
 */
export class CleanupQueue implements Disposable {
  readonly #entries = new Map<string, Entry>();
  /** Entries in the queue that are neither admitted nor reserved. */
  readonly #waiting = new SortedList<Entry>((one, other) => compare(one.sortKey, other.sortKey));
  readonly #starts = new SortedList<{ readonly at: number; readonly uid: string }>(
    (one, other) => one.at - other.at || compare(one.uid, other.uid),
  );
  /** By UID: the time in the status, and the time that counts. */
  readonly #startOf = new Map<string, { readonly reported: number; readonly at: number }>();
  readonly #admitted = new Set<string>();
  /** Admitted servers whose attempt is not in the status yet. */
  readonly #unrecorded = new Set<string>();
  /** Admitted by this process, and not yet observed in the cache. */
  readonly #reserved = new Set<string>();
  /** Reserved servers in Cleanup without the admission annotation. */
  readonly #unannounced = new Set<string>();
  readonly #limiter: InFlightLimiter;
  readonly #subscription: Disposable;

  constructor(servers: Cache<Server>, clock: Clock, { maxInFlight }: { maxInFlight?: number | undefined } = {}) {
    this.#limiter = new InFlightLimiter({ clock, maxInFlight });
    this.#subscription = servers.onChange(({ before, after }) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#remove(before);
      if (after !== undefined) this.#update(after);
    });
    for (const server of servers.all()) this.#update(server);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#limiter[Symbol.dispose]();
  }

  /** A further cleanup may start. */
  get capacityFreed(): KeyNotifier {
    return this.#limiter.released;
  }

  /** The next attempt on the server may start: its slot is not given to another. */
  reserve({ metadata: { uid = '' } }: Server): void {
    this.#reserved.add(uid);
    this.#limiter.acquire(uid);
    this.#reindex(uid, this.#entries.get(uid));
  }

  /** The admission was not written. */
  release({ metadata: { uid = '' } }: Server): void {
    this.#reserved.delete(uid);
    this.#reindex(uid, this.#entries.get(uid));
  }

  isReserved({ metadata }: Server): boolean {
    return this.#reserved.has(metadata.uid ?? '');
  }

  positionOf(server: Server, now: number): QueuePosition {
    const { uid = '' } = server.metadata;
    const sortKey = sortKeyOf(server);
    const unannounced = countWithout(this.#unannounced, uid);
    const { startedInHour, nextHourlySlotInMs } = this.#startsInHour(server, now);
    return {
      ahead: this.#waiting.countBefore((entry) => compare(entry.sortKey, sortKey) < 0),
      running: countWithout(this.#admitted, uid) + unannounced,
      startedInHour: startedInHour + countWithout(this.#unrecorded, uid) + unannounced,
      nextHourlySlotInMs,
      available: this.#limiter.has(uid) ? Number.POSITIVE_INFINITY : this.#limiter.available,
    };
  }

  /**
   * Names of the servers that may be admissible now. At least one: the first may have started within the hour already, and does not
   * count twice.
   */
  next({ atOnce, perHour }: CleanupLimits, now: number): string[] {
    this.#clampStarts(now);
    this.#dropStartsUntil(now - hourMs);
    const running = this.#admitted.size + this.#unannounced.size;
    const startedInHour = this.#starts.size + this.#unrecorded.size + this.#unannounced.size;
    const slots = Math.min(atOnce - running, perHour - startedInHour, this.#limiter.available);
    return this.#waiting.first(Math.max(1, slots)).map(({ name }) => name);
  }

  #startsInHour(server: Server, now: number): Pick<QueuePosition, 'startedInHour' | 'nextHourlySlotInMs'> {
    this.#clampStarts(now);
    this.#dropStartsUntil(now - hourMs);
    const { uid = '' } = server.metadata;
    // A further attempt of the same cleanup is not counted as a start.
    const isRetry = (server.status?.cleanup?.failedAttempts ?? 0) > 0 && this.#startOf.has(uid);
    const oldest = this.#starts.first(2).find((start) => !isRetry || start.uid !== uid);
    return {
      startedInHour: this.#starts.size - (isRetry ? 1 : 0),
      nextHourlySlotInMs: oldest === undefined ? hourMs : Math.max(0, oldest.at + hourMs - now),
    };
  }

  #update(server: Server): void {
    const { uid = '' } = server.metadata;
    const entry = entryOf(server);
    if (entry === undefined || entry.attempt > 0) this.#reserved.delete(uid);
    if (releasesSlot(server)) this.#limiter.release(uid);
    this.#reindex(uid, entry);
    this.#recordStart(uid, Date.parse(server.status?.cleanup?.startedTime ?? ''));
  }

  #remove({ metadata: { uid = '' } }: Server): void {
    this.#reserved.delete(uid);
    this.#limiter.release(uid);
    this.#reindex(uid, undefined);
    this.#recordStart(uid, Number.NaN);
  }

  /** Files the server by its entry; undefined removes it. */
  #reindex(uid: string, entry: Entry | undefined): void {
    const before = this.#entries.get(uid);
    if (before !== undefined) this.#waiting.remove(before);
    for (const uids of [this.#entries, this.#admitted, this.#unrecorded, this.#unannounced]) uids.delete(uid);
    if (entry === undefined) return;
    this.#entries.set(uid, entry);
    if (entry.isAdmitted) {
      this.#admitted.add(uid);
      if (entry.attempt === 0) this.#unrecorded.add(uid);
    } else if (this.#reserved.has(uid)) this.#unannounced.add(uid);
    else if (entry.isQueued) this.#waiting.add(entry);
  }

  #recordStart(uid: string, at: number): void {
    const before = this.#startOf.get(uid);
    if (before?.reported === at) return;
    if (before !== undefined) this.#starts.remove({ at: before.at, uid });
    this.#startOf.delete(uid);
    if (Number.isNaN(at)) return;
    this.#startOf.set(uid, { reported: at, at });
    this.#starts.add({ at, uid });
  }

  /** A start in the future was written by a clock that was ahead: it counts from now on, and not until its time has passed. */
  #clampStarts(now: number): void {
    if (this.#starts.countBefore(({ at }) => at <= now) === this.#starts.size) return;
    for (const [uid, { reported, at }] of this.#startOf) {
      if (at <= now) continue;
      this.#starts.remove({ at, uid });
      this.#starts.add({ at: now, uid });
      this.#startOf.set(uid, { reported, at: now });
    }
  }

  #dropStartsUntil(until: number): void {
    for (
      let [oldest] = this.#starts.first(1);
      oldest !== undefined && oldest.at <= until;
      [oldest] = this.#starts.first(1)
    ) {
      this.#starts.remove(oldest);
      this.#startOf.delete(oldest.uid);
    }
  }
}

const countWithout = (uids: ReadonlySet<string>, uid: string): number => uids.size - (uids.has(uid) ? 1 : 0);

/** Value of the admission annotation for the next attempt on the server. */
export const admissionOf = ({ status }: Server): string =>
  `${status?.cleanup?.neededSince ?? ''} ${(status?.cleanup?.failedAttempts ?? 0) + 1}`;

/** The leader has admitted the next attempt. */
export const isAdmitted = (server: Server): boolean =>
  server.metadata.annotations?.[cleanupAdmittedAnnotation] === admissionOf(server);

export const isQueued = ({ status }: Server): boolean =>
  status?.state === 'Cleanup' && status.cleanup?.queuedSince !== undefined;

/** The machine is On, and may erase for days, or the cleanup is over. A machine is Off when it is admitted. */
const releasesSlot = ({ status }: Server): boolean => status?.state !== 'Cleanup' || status.powerState === 'On';

function entryOf(server: Server): Entry | undefined {
  if (server.status?.state !== 'Cleanup') return undefined;
  const attempt = server.status.cleanup?.attempt ?? 0;
  return {
    name: server.metadata.name,
    sortKey: sortKeyOf(server),
    attempt,
    isAdmitted: attempt > 0 || isAdmitted(server),
    isQueued: isQueued(server),
  };
}

/** RFC 3339 times in UTC sort as text. */
const sortKeyOf = ({ metadata, status }: Server): string => `${status?.cleanup?.neededSince ?? ''} ${metadata.name}`;

const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);

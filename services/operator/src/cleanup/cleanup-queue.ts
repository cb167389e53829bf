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
  /** Place in the queue: how long the disks have been waiting, then the name. */
  readonly sortKey: string;
  readonly attempt: number;
  /** An attempt runs, or may begin. */
  readonly isAdmitted: boolean;
  /** It said that it waits. */
  readonly isQueued: boolean;
}

/** What stands before a server, over all servers. */
export interface QueuePosition {
  readonly ahead: number;
  readonly running: number;
  /** Servers that were let in within the last hour. */
  readonly startedInHour: number;
  /** Until the oldest of those counts no more. */
  readonly nextHourlySlotInMs: number;
  /** How many more may begin until machines that were let in have started. */
  readonly available: number;
}

/** How many are cleaned up, by the wish of who runs the fleet. */
export interface CleanupLimits {
  readonly atOnce: number;
  readonly perHour: number;
}

/**
 * Who is cleaned up, who waits for it, and who began within the last hour: kept up to date with each change, so that a rack
 * that comes back at once is not counted through by each of its servers.
 *
 * Only those wait that said so: one that cannot be erased, because its BMC is away for example, is in nobody's way.
 *
 * However many the limits allow, they begin at the pace at which machines are started, so that the first are clean soon:
 *
 *   thousands that wait ──► 200 let in, their machines not started yet ──► machines that erase, for as long as it takes
 */
export class CleanupQueue implements Disposable {
  readonly #entries = new Map<string, Entry>();
  /** Places of those who wait, are not let in and not taken. */
  readonly #waiting = new SortedList<Entry>((one, other) => compare(one.sortKey, other.sortKey));
  readonly #starts = new SortedList<{ readonly at: number; readonly uid: string }>(
    (one, other) => one.at - other.at || compare(one.uid, other.uid),
  );
  readonly #startOf = new Map<string, number>();
  readonly #admitted = new Set<string>();
  /** Those of them whose attempt is not written down. */
  readonly #unrecorded = new Set<string>();
  /** Let in by this process, and not yet seen to be written down. */
  readonly #reserved = new Set<string>();
  /** Those of them who are in Cleanup and nobody is told yet that they are let in. */
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

  /** There is room for one more to begin. */
  get capacityFreed(): KeyNotifier {
    return this.#limiter.released;
  }

  /** The next attempt on the server may begin: nobody else gets its place. */
  reserve({ metadata: { uid = '' } }: Server): void {
    this.#reserved.add(uid);
    this.#limiter.acquire(uid);
    this.#reindex(uid, this.#entries.get(uid));
  }

  /** It did not come to be written down. */
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
   * Names of those whose turn it may be now. One at least: whoever comes first may have begun within the hour already, and
   * does not count twice.
   */
  next({ atOnce, perHour }: CleanupLimits, now: number): string[] {
    this.#dropStartsUntil(now - hourMs);
    const running = this.#admitted.size + this.#unannounced.size;
    const startedInHour = this.#starts.size + this.#unrecorded.size + this.#unannounced.size;
    const slots = Math.min(atOnce - running, perHour - startedInHour, this.#limiter.available);
    return this.#waiting.first(Math.max(1, slots)).map(({ name }) => name);
  }

  #startsInHour(server: Server, now: number): Pick<QueuePosition, 'startedInHour' | 'nextHourlySlotInMs'> {
    this.#dropStartsUntil(now - hourMs);
    const { uid = '' } = server.metadata;
    // Another attempt of the same cleanup is no start of its own.
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

  /** Puts the server where it belongs now; undefined belongs nowhere. */
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
    if (before === at) return;
    if (before !== undefined) this.#starts.remove({ at: before, uid });
    this.#startOf.delete(uid);
    if (Number.isNaN(at)) return;
    this.#startOf.set(uid, at);
    this.#starts.add({ at, uid });
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

/** The words by which a replica is told that the next attempt on the server may begin. */
export const admissionOf = ({ status }: Server): string =>
  `${status?.cleanup?.neededSince ?? ''} ${(status?.cleanup?.failedAttempts ?? 0) + 1}`;

/** The leading replica let in the attempt that comes next. */
export const isAdmitted = (server: Server): boolean =>
  server.metadata.annotations?.[cleanupAdmittedAnnotation] === admissionOf(server);

export const isQueued = ({ status }: Server): boolean =>
  status?.state === 'Cleanup' && status.cleanup?.queuedSince !== undefined;

/** What is left is the machine's, which may erase for days; or it is over. It is off when it is let in. */
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

/** RFC 3339 times in UTC compare like the moments they name. */
const sortKeyOf = ({ metadata, status }: Server): string => `${status?.cleanup?.neededSince ?? ''} ${metadata.name}`;

const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);

import type { Server } from '@metal/api/v1alpha1/server.ts';
import { cleanupAdmittedAnnotation } from '@metal/api/wire/contract.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { minutes } from '@metal/kube/decide.ts';
import { Pace } from './pace.ts';
import type { Signal } from './signal.ts';
import { SortedList } from './sorted-list.ts';

const hourMs = minutes(60);

/** A server in state Cleanup. */
interface Entry {
  readonly name: string;
  /** Place in the queue: how long the disks have been waiting, then the name. */
  readonly place: string;
  readonly attempt: number;
  /** An attempt runs, or may begin. */
  readonly isLetIn: boolean;
  /** It said that it waits. */
  readonly isWaiting: boolean;
}

/** What stands before a server, over all servers. */
export interface Standing {
  readonly ahead: number;
  readonly running: number;
  /** Servers that were let in within the last hour. */
  readonly startedInHour: number;
  /** Until the oldest of those counts no more. */
  readonly hourFreesInMs: number;
  /** How many more may begin until machines that were let in have started. */
  readonly room: number;
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
export class CleanupLedger implements Disposable {
  readonly #entries = new Map<string, Entry>();
  /** Places of those who wait, are not let in and not taken. */
  readonly #line = new SortedList<Entry>((one, other) => compare(one.place, other.place));
  readonly #starts = new SortedList<{ readonly at: number; readonly uid: string }>(
    (one, other) => one.at - other.at || compare(one.uid, other.uid),
  );
  readonly #startOf = new Map<string, number>();
  readonly #letIn = new Set<string>();
  /** Those of them whose attempt is not written down. */
  readonly #unwritten = new Set<string>();
  /** Let in by this process, and not yet seen to be written down. */
  readonly #taken = new Set<string>();
  /** Those of them who are in Cleanup and nobody is told yet that they are let in. */
  readonly #untold = new Set<string>();
  readonly #pace: Pace;
  readonly #following: Disposable;

  constructor(servers: Cache<Server>, clock: Clock, { most }: { most?: number | undefined } = {}) {
    this.#pace = new Pace({ clock, most });
    this.#following = servers.onChange(({ before, after }) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#forget(before);
      if (after !== undefined) this.#note(after);
    });
    for (const server of servers.all()) this.#note(server);
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
    this.#pace[Symbol.dispose]();
  }

  /** There is room for one more to begin. */
  get left(): Signal {
    return this.#pace.left;
  }

  /** The next attempt on the server may begin: nobody else gets its place. */
  take({ metadata: { uid = '' } }: Server): void {
    this.#taken.add(uid);
    this.#pace.enter(uid);
    this.#arrange(uid, this.#entries.get(uid));
  }

  /** It did not come to be written down. */
  giveBack({ metadata: { uid = '' } }: Server): void {
    this.#taken.delete(uid);
    this.#arrange(uid, this.#entries.get(uid));
  }

  isTaken({ metadata }: Server): boolean {
    return this.#taken.has(metadata.uid ?? '');
  }

  standingOf(server: Server, now: number): Standing {
    const { uid = '' } = server.metadata;
    const place = placeOf(server);
    const untold = countWithout(this.#untold, uid);
    const { startedInHour, hourFreesInMs } = this.#hourOf(server, now);
    return {
      ahead: this.#line.countBefore((entry) => compare(entry.place, place) < 0),
      running: countWithout(this.#letIn, uid) + untold,
      startedInHour: startedInHour + countWithout(this.#unwritten, uid) + untold,
      hourFreesInMs,
      room: this.#pace.has(uid) ? Number.POSITIVE_INFINITY : this.#pace.room,
    };
  }

  /**
   * Names of those whose turn it may be now. One at least: whoever comes first may have begun within the hour already, and
   * does not count twice.
   */
  next({ atOnce, perHour }: CleanupLimits, now: number): string[] {
    this.#dropStartsUntil(now - hourMs);
    const running = this.#letIn.size + this.#untold.size;
    const startedInHour = this.#starts.size + this.#unwritten.size + this.#untold.size;
    const places = Math.min(atOnce - running, perHour - startedInHour, this.#pace.room);
    return this.#line.first(Math.max(1, places)).map(({ name }) => name);
  }

  #hourOf(server: Server, now: number): Pick<Standing, 'startedInHour' | 'hourFreesInMs'> {
    this.#dropStartsUntil(now - hourMs);
    const { uid = '' } = server.metadata;
    // Another attempt of the same cleanup is no start of its own.
    const isAgain = (server.status?.cleanup?.failedAttempts ?? 0) > 0 && this.#startOf.has(uid);
    const oldest = this.#starts.first(2).find((start) => !isAgain || start.uid !== uid);
    return {
      startedInHour: this.#starts.size - (isAgain ? 1 : 0),
      hourFreesInMs: oldest === undefined ? hourMs : Math.max(0, oldest.at + hourMs - now),
    };
  }

  #note(server: Server): void {
    const { uid = '' } = server.metadata;
    const entry = entryOf(server);
    if (entry === undefined || entry.attempt > 0) this.#taken.delete(uid);
    if (isThrough(server)) this.#pace.leave(uid);
    this.#arrange(uid, entry);
    this.#noteStart(uid, Date.parse(server.status?.cleanup?.startedTime ?? ''));
  }

  #forget({ metadata: { uid = '' } }: Server): void {
    this.#taken.delete(uid);
    this.#pace.leave(uid);
    this.#arrange(uid, undefined);
    this.#noteStart(uid, Number.NaN);
  }

  /** Puts the server where it belongs now; undefined belongs nowhere. */
  #arrange(uid: string, entry: Entry | undefined): void {
    const before = this.#entries.get(uid);
    if (before !== undefined) this.#line.remove(before);
    for (const uids of [this.#entries, this.#letIn, this.#unwritten, this.#untold]) uids.delete(uid);
    if (entry === undefined) return;
    this.#entries.set(uid, entry);
    if (entry.isLetIn) {
      this.#letIn.add(uid);
      if (entry.attempt === 0) this.#unwritten.add(uid);
    } else if (this.#taken.has(uid)) this.#untold.add(uid);
    else if (entry.isWaiting) this.#line.add(entry);
  }

  #noteStart(uid: string, at: number): void {
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
export const isLetIn = (server: Server): boolean =>
  server.metadata.annotations?.[cleanupAdmittedAnnotation] === admissionOf(server);

export const isWaiting = ({ status }: Server): boolean =>
  status?.state === 'Cleanup' && status.cleanup?.queuedSince !== undefined;

/** What is left is the machine's, which may erase for days; or it is over. It is off when it is let in. */
const isThrough = ({ status }: Server): boolean => status?.state !== 'Cleanup' || status.powerState === 'On';

function entryOf(server: Server): Entry | undefined {
  if (server.status?.state !== 'Cleanup') return undefined;
  const attempt = server.status.cleanup?.attempt ?? 0;
  return {
    name: server.metadata.name,
    place: placeOf(server),
    attempt,
    isLetIn: attempt > 0 || isLetIn(server),
    isWaiting: isWaiting(server),
  };
}

/** RFC 3339 times in UTC compare like the moments they name. */
const placeOf = ({ metadata, status }: Server): string => `${status?.cleanup?.neededSince ?? ''} ${metadata.name}`;

const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);

import type { Logger } from 'pino';
import type { Clock } from '../../runtime/clock.ts';
import { isConflict, isNotFound } from '../../errors.ts';
import { LeaseLost } from '../leadership.ts';
import { Assignment, type ObservedMember } from './assignment.ts';
import type { Buckets } from './buckets.ts';
import { bucketOf, type AssignmentView } from './rendezvous.ts';

/** The leases of all members, in the API server. Writes are guarded by the version that was seen last. */
export interface MemberLeases {
  /** Resolves with its version. */
  create(view: AssignmentView, signal: AbortSignal): Promise<string>;
  renew(view: AssignmentView, version: string, signal: AbortSignal): Promise<string>;
  /** All members as of now: what was written before the request is in it. */
  list(signal: AbortSignal): Promise<readonly ObservedMember[]>;
  remove(member: Pick<ObservedMember, 'name' | 'version'>): Promise<void>;
}

export interface MembershipTimes {
  readonly leaseMs: number;
  /** A member that could not renew for so long acts on nothing any more; shorter than `leaseMs`. */
  readonly renewMs: number;
  /** Between two renewals. */
  readonly retryMs: number;
}

/** What a membership asks of those who act. `isConcerned` tells of a key whether it is meant. */
export interface ShardCallbacks {
  /** Begin nothing of these, finish what is under way, let go of everything that belongs to them. */
  stop(isConcerned: (key: string) => boolean): Promise<void>;
  /** Catch up with what was written until now, by whomever. */
  prepare(): Promise<void>;
  /** These may be acted on from now on. */
  start(isConcerned: (key: string) => boolean): void;
}

export interface MembershipOptions {
  /** Unique per process. */
  readonly self: string;
  readonly leases: MemberLeases;
  readonly times: MembershipTimes;
  readonly clock: Clock;
  readonly log: Logger;
  /** For simulations; fewer are faster. */
  readonly buckets?: number;
}

/**
 * One replica among those who share the keys.
 *
 *   list ─► create own lease ─► list ─► grant ─► catch up ─► act
 *                                 ▲
 *   every heartbeat: renew own lease with its view ─► list ─► (others came or went) stop what is lost ─► renew with the
 *   new view ─► list ─► grant what nobody else claims ─► catch up ─► act
 *
 * See docs/decisions/0052 for why no two act on one key.
 */
export class ShardMembership {
  readonly #options: MembershipOptions;
  readonly #assignment: Assignment;
  readonly #buckets: number | undefined;
  #callbacks: ShardCallbacks = {
    stop: () => Promise.resolve(),
    prepare: () => Promise.resolve(),
    start: () => undefined,
  };
  /** Of its own lease; undefined while the fate of a write is unknown. */
  #version: string | undefined;
  #nextHeartbeatAt = 0;
  #wakeUp: () => void = () => undefined;
  #isTriggered = false;
  #isStopping = false;
  #isPreparing = false;
  #failure: Error | undefined;
  #lastLogged = '';
  /** Takings and givings of keys so far, for metrics. */
  readonly shardMoves = { gained: 0, lost: 0 };

  constructor(options: MembershipOptions) {
    const { self, times, buckets } = options;
    this.#options = options;
    this.#buckets = buckets;
    this.#assignment = new Assignment({ self, renewMs: times.renewMs, ...(buckets === undefined ? {} : { buckets }) });
  }

  /** Who acts, as far as this member knows. */
  get members(): readonly string[] {
    return this.#assignment.target.members;
  }

  /** Share of all keys that this member may act on: 0 to 1. */
  get share(): number {
    return this.#assignment.share;
  }

  /** Its lease has not run out. */
  get isAlive(): boolean {
    return this.#assignment.isAlive(this.#options.clock.now());
  }

  /** Whether something may be sent for the key at this very moment. */
  isOwner(key: string): boolean {
    return this.#assignment.isOwner(this.#bucketOf(key), this.#options.clock.now());
  }

  /** Whether a turn of the key may begin. */
  mayStart(key: string): boolean {
    return this.#assignment.mayStart(this.#bucketOf(key), this.#options.clock.now());
  }

  /** Makes itself known. An API server that is away is asked again: a newcomer holds nothing that it could lose. */
  async join(callbacks: ShardCallbacks, signal: AbortSignal): Promise<void> {
    const { clock, times, log } = this.#options;
    this.#callbacks = callbacks;
    while (!(await this.#tryToJoin(signal))) await clock.sleep(times.retryMs, signal);
    log.info({ replica: this.#options.self }, 'takes part in sharing the keys');
  }

  /** Keeps the lease until the signal is aborted; rejects with LeaseLost as soon as it cannot be sure of it. */
  async keep(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#trigger(), { once: true });
    while (!signal.aborted) {
      await this.#untilDue(signal);
      if (!signal.aborted) await this.#heartbeat(signal);
    }
  }

  /** To be called when nothing is done any more: others take over at once. Best effort. */
  async leave(): Promise<void> {
    const { leases, self } = this.#options;
    const version = this.#version;
    if (version !== undefined) await leases.remove({ name: self, version }).catch(() => undefined);
  }

  async #tryToJoin(signal: AbortSignal): Promise<boolean> {
    const { leases, clock, log } = this.#options;
    try {
      this.#take(await leases.list(signal));
      const view = this.#assignment.viewToWrite();
      this.#assignment.tries(view);
      const requestedAt = clock.now();
      this.#version = await this.#write(view, signal);
      this.#assignment.wrote(view, { requestedAt, now: clock.now() });
      this.#nextHeartbeatAt = clock.now();
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug({ error: messageOf(error) }, 'the leases of the replicas cannot be read or written');
      return false;
    }
  }

  /** An earlier creation may have succeeded although no answer came. */
  #write(view: AssignmentView, signal: AbortSignal): Promise<string> {
    const { leases } = this.#options;
    return this.#version === undefined ? leases.create(view, signal) : leases.renew(view, this.#version, signal);
  }

  async #heartbeat(signal: AbortSignal): Promise<void> {
    const { clock, times } = this.#options;
    this.#assertAlive();
    this.#nextHeartbeatAt = clock.now() + times.retryMs;
    this.#assignment.expire(clock.now());
    const isRenewed = await this.#renew(signal);
    this.#assertAlive();
    const isObserved = await this.#observe(signal);
    this.#assertAlive();
    if (!isRenewed || !isObserved) this.#nextHeartbeatAt = clock.now() + times.retryMs / 4;
    else if (!this.#assignment.isLosing && !this.#assignment.isWritten) this.#trigger();
    this.#stopLost();
    this.#prepareGranted();
    this.#logMembership();
  }

  #assertAlive(): void {
    const { clock, times, self } = this.#options;
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#assignment.isAlive(clock.now()))
      throw new LeaseLost(`the lease ${self} could not be renewed for ${times.renewMs / 1_000} s`);
  }

  /** False when it is not known to be written. */
  async #renew(signal: AbortSignal): Promise<boolean> {
    const { leases, clock, self } = this.#options;
    const version = this.#version;
    if (version === undefined) return false;
    const view = this.#assignment.viewToWrite();
    this.#assignment.tries(view);
    const requestedAt = clock.now();
    try {
      this.#version = await this.#inTime(signal, (deadline) => leases.renew(view, version, deadline));
      this.#assignment.wrote(view, { requestedAt, now: clock.now() });
      return true;
    } catch (error) {
      if (isNotFound(error)) throw new LeaseLost(`the lease ${self} was deleted`);
      this.#version = undefined;
      this.#logError(error);
      return false;
    }
  }

  async #observe(signal: AbortSignal): Promise<boolean> {
    try {
      this.#take(await this.#inTime(signal, (deadline) => this.#options.leases.list(deadline)));
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      this.#logError(error);
      return false;
    }
  }

  #take(observed: readonly ObservedMember[]): void {
    const { self, clock } = this.#options;
    const own = observed.find(({ name }) => name === self);
    if (own === undefined && this.#assignment.isAlive(clock.now()))
      throw new LeaseLost(`the lease ${self} was deleted`);
    this.#version = own?.version;
    this.#assignment.observe(observed, clock.now());
    this.#removeExpired();
  }

  /** Nothing is waited for longer than half of the time that is left: another connection may be better. */
  async #inTime<T>(signal: AbortSignal, work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const deadline = new AbortController();
    const leftMs = this.#assignment.endsAt - clock.now();
    using _timer = clock.setTimeout(Math.max(1, leftMs / 2), () => deadline.abort(new Error('no answer in time')));
    return await work(AbortSignal.any([signal, deadline.signal]));
  }

  #stopLost(): void {
    if (this.#isStopping || !this.#assignment.isLosing) return;
    this.#isStopping = true;
    this.shardMoves.lost += 1;
    const buckets = this.#assignment.stop();
    void this.#callbacks
      .stop(this.#isIn(buckets))
      .then(() => this.#start(this.#assignment.stopped()))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#isStopping = false;
        this.#trigger();
      });
  }

  #prepareGranted(): void {
    const grant = this.#assignment.toPrepare;
    if (grant === undefined || this.#isPreparing) return;
    this.#isPreparing = true;
    void this.#callbacks
      .prepare()
      .then(() => this.#start(this.#assignment.prepared(grant)))
      // Tried again at the next heartbeat.
      .catch((error: unknown) => this.#logError(error))
      .finally(() => {
        this.#isPreparing = false;
      });
  }

  #start(buckets: Buckets): void {
    if (buckets.isEmpty) return;
    this.shardMoves.gained += 1;
    this.#callbacks.start(this.#isIn(buckets));
    this.#logMembership();
  }

  #isIn(buckets: Buckets): (key: string) => boolean {
    return (key) => buckets.has(this.#bucketOf(key));
  }

  #bucketOf(key: string): number {
    const bucket = bucketOf(key);
    return this.#buckets === undefined ? bucket : bucket % this.#buckets;
  }

  /** Guarded by the version that was seen last: one that renews after all is left alone. */
  #removeExpired(): void {
    const { leases, clock, log } = this.#options;
    for (const { name, version } of this.#assignment.expired(clock.now()))
      void leases.remove({ name, version }).then(
        () => {
          log.info({ lease: name }, 'the lease of a replica that was not seen to renew it is removed');
          this.#trigger();
        },
        (error: unknown) =>
          isConflict(error) ||
          log.warn({ lease: name, error: messageOf(error) }, 'the lease of a replica cannot be removed'),
      );
  }

  /** One line per change. */
  #logMembership(): void {
    const { log, self } = this.#options;
    const { blockers } = this.#assignment;
    const waits = blockers.length === 0 ? {} : { waitsFor: blockers };
    const percent = Math.round(this.share * 100);
    const summary = JSON.stringify([this.members, blockers, percent]);
    if (this.#lastLogged === summary) return;
    this.#lastLogged = summary;
    log.info(
      { replica: self, members: this.members, ...waits },
      `one of ${this.members.length} replicas, acts on ${percent} % of the keys`,
    );
  }

  #fail(error: unknown): void {
    this.#failure = error instanceof Error ? error : new Error(String(error));
  }

  #logError(error: unknown): void {
    if (isConflict(error)) return;
    this.#options.log.debug({ error: messageOf(error) }, 'a lease of the replicas could not be read or written');
  }

  #trigger(): void {
    this.#isTriggered = true;
    this.#wakeUp();
  }

  /** Until the next heartbeat, or until somebody fades, or there is news to write. */
  async #untilDue(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const dueAt = Math.min(this.#nextHeartbeatAt, this.#assignment.nextExpiryAt(clock.now()));
    using _timer = clock.setTimeout(Math.max(0, dueAt - clock.now()), resolve);
    this.#wakeUp = resolve;
    if (this.#isTriggered || signal.aborted) resolve();
    await promise;
    this.#isTriggered = false;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

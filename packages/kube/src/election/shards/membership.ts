import { isNotFound } from '../../errors.ts';
import { LeaseLost } from '../leadership.ts';
import { Assignment, type ObservedMember } from './assignment.ts';
import { MembershipLog } from './membership-log.ts';
import type { Buckets } from './buckets.ts';
import type { ShardCallbacks, MembershipOptions } from './membership-options.ts';
import { bucketOf, type AssignmentView } from './rendezvous.ts';

/**
 * One replica among those that share the keys.
 *
 *   list ─► create own lease ─► list ─► grant ─► relist ─► act
 *                                 ▲
 *   every heartbeat: renew own lease with its view ─► list ─► (members joined or left) stop lost keys ─► renew with the
 *   new view ─► list ─► grant keys that no other member claims ─► relist ─► act
 *
 * Decision 0052 proves that no two members act on one key.
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
  /** Version of its own lease; undefined while the outcome of a write is unknown. */
  #version: string | undefined;
  #nextHeartbeatAt = 0;
  #wakeUp: () => void = () => undefined;
  #isTriggered = false;
  #isStopping = false;
  #isPreparing = false;
  #failure: Error | undefined;
  readonly #log: MembershipLog;
  /** Number of times keys were gained and lost, for metrics. */
  readonly shardMoves = { gained: 0, lost: 0 };

  constructor(options: MembershipOptions) {
    const { self, times, buckets } = options;
    this.#options = options;
    this.#buckets = buckets;
    this.#log = new MembershipLog(options.log, self);
    this.#assignment = new Assignment({ self, renewMs: times.renewMs, ...(buckets === undefined ? {} : { buckets }) });
  }

  /** The members, as this one observes them. */
  get members(): readonly string[] {
    return this.#assignment.target.members;
  }

  /** Part of all keys that this member may act on: 0 to 1. */
  get share(): number {
    return this.#assignment.share;
  }

  /** True until its lease expires. */
  get isAlive(): boolean {
    return this.#assignment.isAlive(this.#options.clock.now());
  }

  /** Whether a request may be sent for the key right now. */
  isOwner(key: string): boolean {
    return this.#assignment.isOwner(this.#bucketOf(key), this.#options.clock.now());
  }

  /** Whether a reconcile of the key may start. */
  mayStart(key: string): boolean {
    return this.#assignment.mayStart(this.#bucketOf(key), this.#options.clock.now());
  }

  /** Creates its lease. Retries while the API server is unreachable: a new member has no keys to lose. */
  async join(callbacks: ShardCallbacks, signal: AbortSignal): Promise<void> {
    const { clock, times } = this.#options;
    this.#callbacks = callbacks;
    while (!(await this.#tryToJoin(signal))) await clock.sleep(times.retryMs, signal);
    this.#log.joined();
  }

  /** Renews the lease until the signal is aborted; rejects with LeaseLost when it is lost or may be. */
  async keep(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#trigger(), { once: true });
    while (!signal.aborted) {
      await this.#untilDue(signal);
      if (!signal.aborted) await this.#heartbeat(signal);
    }
  }

  /** Removes its lease, best effort, so that others take over at once. Call it when nothing is running any more. */
  async leave(): Promise<void> {
    const { leases, self } = this.#options;
    const version = this.#version;
    if (version !== undefined) await leases.remove({ name: self, version }).catch(() => undefined);
  }

  async #tryToJoin(signal: AbortSignal): Promise<boolean> {
    const { leases, clock } = this.#options;
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
      this.#log.failed(error);
      return false;
    }
  }

  /** An earlier creation may have succeeded without a response. */
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

  /** False if the write may have failed. */
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
      this.#log.failed(error);
      return false;
    }
  }

  async #observe(signal: AbortSignal): Promise<boolean> {
    try {
      this.#take(await this.#inTime(signal, (deadline) => this.#options.leases.list(deadline)));
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      this.#log.failed(error);
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

  /** Limits a request to half of the time until the lease expires, so that another connection can be tried. */
  async #inTime<T>(signal: AbortSignal, work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const deadline = new AbortController();
    const leftMs = this.#assignment.endsAt - clock.now();
    using _timer = clock.setTimeout(Math.max(1, leftMs / 2), () => deadline.abort(new Error('no response in time')));
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
      // The next heartbeat tries again.
      .catch((error: unknown) => this.#log.failed(error))
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

  /** The removal is guarded by the version that was read: a replica that renews meanwhile keeps its lease. */
  #removeExpired(): void {
    const { leases, clock } = this.#options;
    for (const { name, version } of this.#assignment.expired(clock.now()))
      void leases.remove({ name, version }).then(
        () => {
          this.#log.removed(name);
          this.#trigger();
        },
        (error: unknown) => this.#log.notRemoved(name, error),
      );
  }

  #logMembership(): void {
    const { members, share } = this;
    this.#log.changed({ members, share, blockers: this.#assignment.blockers });
  }

  #fail(error: unknown): void {
    this.#failure = error instanceof Error ? error : new Error(String(error));
  }

  #trigger(): void {
    this.#isTriggered = true;
    this.#wakeUp();
  }

  /** Waits for the next heartbeat, the expiry of a member or a trigger. */
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

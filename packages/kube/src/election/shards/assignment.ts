import { Buckets } from './buckets.ts';
import { bucketCount, emptyView, AssignmentView } from './rendezvous.ts';

/** One member, as its lease was read. */
export interface ObservedMember {
  readonly name: string;
  /** Differs after each renewal. */
  readonly version: string;
  /** For others it expires this long after they observed a renewal. */
  readonly leaseMs: number;
  /** The view it acts by; undefined if it is unreadable, which counts as a claim to all buckets. */
  readonly view: AssignmentView | undefined;
}

interface Other extends ObservedMember {
  readonly seenAt: number;
}

/** Not owned; owned. A positive number is that of the grant that is being prepared. */
const none = 0;
const ready = -1;

/**
 * Which buckets one member owns, as far as it knows: the pure part of the membership, without clock or network.
 *
 * - A member claims the buckets that its written view assigns to it. While the outcome of a write is unknown, only buckets
 *   that both the previous and the new view assign to it count as claimed.
 * - It may own a claimed bucket once a list that was requested *after* the claim was written shows no other member's
 *   claim. Of two members with the same claim, the one that wrote last therefore sees the other.
 * - A member whose renewal was not observed for its lease duration has expired, but its claims hold until its lease is
 *   removed: if it is alive after all, its next renewal fails, whatever its clock shows.
 * - It owns a bucket until it has stopped (`stopped`) or its lease expires; later claims of others do not matter, since
 *   those members see its own.
 * - It writes a view that gives up owned buckets only after it has stopped them.
 * - An expired lease never becomes valid again: a late response is ignored.
 */
export class Assignment {
  readonly #self: string;
  readonly #renewMs: number;
  readonly #buckets: number;
  /** Views that may be the written one; the first was written. */
  #claims: readonly AssignmentView[] = [emptyView];
  #target: AssignmentView = emptyView;
  /** By bucket: none, ready, or the number of the grant in preparation. */
  readonly #has: Int32Array;
  #grants = 0;
  /** The ready buckets are those that the target assigns. */
  #isStable = true;
  #others: ReadonlyMap<string, Other> = new Map();
  #endsAt: number | undefined;
  #stopping: Buckets | undefined;

  constructor({ self, renewMs, buckets = bucketCount }: { self: string; renewMs: number; buckets?: number }) {
    this.#self = self;
    this.#renewMs = renewMs;
    this.#buckets = buckets;
    this.#has = new Int32Array(buckets);
  }

  /** The members it shares with, now or soon. */
  get target(): AssignmentView {
    return this.#target;
  }

  /** When this member stops, before its lease expires for others. */
  get endsAt(): number {
    return this.#endsAt ?? Number.NEGATIVE_INFINITY;
  }

  isAlive(now: number): boolean {
    return now < this.endsAt;
  }

  /** Whether this member may act on the bucket now. */
  isOwner(bucket: number, now: number): boolean {
    return this.#has[bucket] === ready && this.isAlive(now);
  }

  /** Whether a reconcile may start. For a bucket that moves, running ones only finish. */
  mayStart(bucket: number, now: number): boolean {
    return this.isOwner(bucket, now) && this.#isAimedAt(bucket) && this.#stopping?.has(bucket) !== true;
  }

  /** The view to write next: the target, once the buckets that it takes away are stopped. */
  viewToWrite(): AssignmentView {
    return this.isLosing ? (this.#claims[0] ?? emptyView) : this.#target;
  }

  /** The target is written. */
  get isWritten(): boolean {
    return this.#claims.length === 1 && this.#claims[0]?.equals(this.#target) === true;
  }

  /** Call it before the write: until the write is confirmed, others may see either view. */
  tries(view: AssignmentView): void {
    if (!this.#claims.some((claim) => claim.equals(view))) this.#claims = [...this.#claims, view];
  }

  /**
   * The write succeeded. `requestedAt` is when the request began: others count from the write, which is later. A response
   * after the expiry is ignored: others may have dropped this member.
   */
  wrote(view: AssignmentView, { requestedAt, now }: { requestedAt: number; now: number }): void {
    if (this.#endsAt !== undefined && now >= this.#endsAt) return;
    this.#claims = [view];
    this.#endsAt = requestedAt + this.#renewMs;
  }

  /** Takes all members from a list that was requested after the response to the last write. */
  observe(observed: readonly ObservedMember[], now: number): void {
    const others = observed.filter(({ name }) => name !== this.#self);
    this.#others = new Map(others.map((one) => [one.name, this.#remembered(one, now)]));
    this.expire(now);
    if (!this.#isStable) this.#grant();
  }

  /** Removes members without a renewal for their lease duration from the target. */
  expire(now: number): void {
    const living = this.#living(now).map(({ name }) => name);
    const target = new AssignmentView([this.#self, ...living], this.#buckets);
    if (!target.equals(this.#target)) this.#aimAt(this.#known(target));
  }

  /** When the next member expires, unless it renews. */
  nextExpiryAt(now: number): number {
    return Math.min(...this.#living(now).map(expiresAt));
  }

  /** Expired members, whose leases must be removed before another member takes their buckets. */
  expired(now: number): readonly ObservedMember[] {
    return [...this.#others.values()].filter((other) => expiresAt(other) <= now);
  }

  /** There are buckets to stop. */
  get isLosing(): boolean {
    return !this.#isStable && this.#has.some((has, bucket) => has === ready && !this.#isAimedAt(bucket));
  }

  /** Buckets to stop; none starts again before `stopped`, even if the target returns it. */
  stop(): Buckets {
    this.#stopping = this.#where((bucket) => this.#has[bucket] === ready && !this.#isAimedAt(bucket));
    return this.#stopping;
  }

  /** The buckets are stopped. Those that the target has returned meanwhile are kept, and returned. */
  stopped(): Buckets {
    const stopping = this.#stopping;
    this.#stopping = undefined;
    const kept = this.#where((bucket) => stopping?.has(bucket) === true && this.#isAimedAt(bucket));
    for (const bucket of this.#has.keys())
      if (stopping?.has(bucket) === true && !kept.has(bucket)) this.#has[bucket] = none;
    return kept;
  }

  /** Number of the latest grant to prepare; undefined if there is none. */
  get toPrepare(): number | undefined {
    return !this.#isStable && this.#has.some((has) => has > none) ? this.#grants : undefined;
  }

  /** Buckets granted up to this number become ready; returns them. */
  prepared(grant: number): Buckets {
    const gained = this.#where((bucket) => this.#isBeingPrepared(bucket) && (this.#has[bucket] ?? none) <= grant);
    for (const bucket of this.#has.keys()) if (gained.has(bucket)) this.#has[bucket] = ready;
    return gained;
  }

  /** Part of buckets that are ready. */
  get share(): number {
    return this.#has.reduce((count, has) => count + (has === ready ? 1 : 0), 0) / this.#buckets;
  }

  /** Members that still claim buckets of the target. */
  get blockers(): readonly string[] {
    if (this.#isStable) return [];
    const wanted = this.#where((bucket) => this.#has[bucket] === none && this.#isAimedAt(bucket));
    return [...this.#others.values()]
      .filter((other) => wanted.some((bucket) => claims(other, bucket)))
      .map(({ name }) => name);
  }

  #where(holds: (bucket: number) => boolean): Buckets {
    return Buckets.where(this.#buckets, holds);
  }

  #isAimedAt(bucket: number): boolean {
    return this.#target.gives(bucket, this.#self);
  }

  #isBeingPrepared(bucket: number): boolean {
    return (this.#has[bucket] ?? none) > none;
  }

  #remembered(one: ObservedMember, now: number): Other {
    const before = this.#others.get(one.name);
    const view = one.view && this.#known(one.view);
    return { ...one, view, seenAt: before?.version === one.version ? before.seenAt : now };
  }

  /** Reuses an equal view, which may have computed its winners. */
  #known(view: AssignmentView): AssignmentView {
    const views = [this.#target, ...this.#claims, ...[...this.#others.values()].map((other) => other.view)];
    return views.find((known) => known?.equals(view)) ?? view;
  }

  #living(now: number): Other[] {
    return [...this.#others.values()].filter((other) => expiresAt(other) > now);
  }

  /** Buckets that are not ready yet need no stop. */
  #aimAt(target: AssignmentView): void {
    this.#target = target;
    this.#isStable = false;
    for (const bucket of this.#has.keys())
      if (this.#isBeingPrepared(bucket) && !this.#isAimedAt(bucket)) this.#has[bucket] = none;
  }

  #grant(): void {
    const others = [...this.#others.values()];
    const isFree = (bucket: number): boolean => !others.some((other) => claims(other, bucket));
    const granted = this.#where(
      (bucket) => this.#has[bucket] === none && this.#isAimedAt(bucket) && this.#isClaimed(bucket) && isFree(bucket),
    );
    if (!granted.isEmpty) this.#grants += 1;
    for (const bucket of this.#has.keys()) if (granted.has(bucket)) this.#has[bucket] = this.#grants;
    this.#isStable = this.#has.every((has, bucket) => has === (this.#isAimedAt(bucket) ? ready : none));
  }

  #isClaimed(bucket: number): boolean {
    return this.#claims.every((view) => view.gives(bucket, this.#self));
  }
}

const claims = ({ view, name }: ObservedMember, bucket: number): boolean => view?.gives(bucket, name) ?? true;

const expiresAt = ({ seenAt, leaseMs }: Other): number => seenAt + leaseMs;

import { Buckets } from './buckets.ts';
import { bucketCount, emptyView, AssignmentView } from './rendezvous.ts';

/** One member as a list of the leases tells. */
export interface ObservedMember {
  readonly name: string;
  /** Differs after each renewal. */
  readonly version: string;
  /** Others count it in until so long after they have seen a renewal. */
  readonly leaseMs: number;
  /** The view it acts by; undefined when it cannot be read, which is taken for a claim to everything. */
  readonly view: AssignmentView | undefined;
}

interface Other extends ObservedMember {
  readonly seenAt: number;
}

/** Not ours; or ours to act on. Between the two stands the number of the grant that is being prepared. */
const none = 0;
const ready = -1;

/**
 * What one member may act on, as far as it knows: the judging half of the membership, without time or network of its own.
 *
 * - It claims in the API what its written view gives it. While the fate of a write is unknown, only what both the view
 *   before and the one that was tried give it counts as claimed.
 * - It may begin what it claims once a list that was asked for *after* the claim was written shows no claim of another
 *   member. Of two that claim the same, the one that wrote last therefore sees the other.
 * - A member that was not seen to renew for its lease time counts no more, but its claims stand until its lease has been
 *   removed: should it live after all, it finds that out at its next renewal, whatever its clock says.
 * - It keeps what it began until it has stopped (`stopped`) or its lease has run out; claims that others make later do
 *   not matter, since these see its own.
 * - A view that gives up something it has is written only after that has been stopped.
 * - Once its lease has run out nothing revives it: an answer that comes too late counts for nothing.
 */
export class Assignment {
  readonly #self: string;
  readonly #renewMs: number;
  readonly #buckets: number;
  /** Views that may be the written one, the surely written first. */
  #claims: readonly AssignmentView[] = [emptyView];
  #target: AssignmentView = emptyView;
  /** By bucket: none, ready, or the number of the grant that is being prepared. */
  readonly #has: Int32Array;
  #grants = 0;
  /** Everything that the target gives is ready, and nothing else is. */
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

  /** The members that it works with, or is about to. */
  get target(): AssignmentView {
    return this.#target;
  }

  /** When it stops to believe in its own lease, which is before others do. */
  get endsAt(): number {
    return this.#endsAt ?? Number.NEGATIVE_INFINITY;
  }

  isAlive(now: number): boolean {
    return now < this.endsAt;
  }

  /** Whether something of the bucket may be done right now. */
  isOwner(bucket: number, now: number): boolean {
    return this.#has[bucket] === ready && this.isAlive(now);
  }

  /** Whether something new may be begun: what is on its way to another member is only finished. */
  mayStart(bucket: number, now: number): boolean {
    return this.isOwner(bucket, now) && this.#isAimedAt(bucket) && this.#stopping?.has(bucket) !== true;
  }

  /** The view to be written next: the target, once everything that it takes away has been stopped. */
  viewToWrite(): AssignmentView {
    return this.isLosing ? (this.#claims[0] ?? emptyView) : this.#target;
  }

  /** Others see the target. */
  get isWritten(): boolean {
    return this.#claims.length === 1 && this.#claims[0]?.equals(this.#target) === true;
  }

  /** From here on, until it is known to be written, nobody knows which of the views others see. */
  tries(view: AssignmentView): void {
    if (!this.#claims.some((claim) => claim.equals(view))) this.#claims = [...this.#claims, view];
  }

  /**
   * It is written. `askedAt` is when the request began: others count from the write, which is later. An answer after the
   * end changes nothing, since others may have counted this member out by then.
   */
  wrote(view: AssignmentView, { requestedAt, now }: { requestedAt: number; now: number }): void {
    if (this.#endsAt !== undefined && now >= this.#endsAt) return;
    this.#claims = [view];
    this.#endsAt = requestedAt + this.#renewMs;
  }

  /** All members, as the API server told when it was asked after the last write was answered. */
  observe(observed: readonly ObservedMember[], now: number): void {
    const others = observed.filter(({ name }) => name !== this.#self);
    this.#others = new Map(others.map((one) => [one.name, this.#remembered(one, now)]));
    this.expire(now);
    if (!this.#isStable) this.#grant();
  }

  /** Those who were not seen to renew for their whole lease time count no more. */
  expire(now: number): void {
    const living = this.#living(now).map(({ name }) => name);
    const target = new AssignmentView([this.#self, ...living], this.#buckets);
    if (!target.equals(this.#target)) this.#aimAt(this.#known(target));
  }

  /** When the next one counts no more, should it not be seen to renew. */
  nextExpiryAt(now: number): number {
    return Math.min(...this.#living(now).map(expiresAt));
  }

  /** Those who count no more, and whose leases have to be removed before somebody acts in their place. */
  expired(now: number): readonly ObservedMember[] {
    return [...this.#others.values()].filter((other) => expiresAt(other) <= now);
  }

  /** Something has to be stopped. */
  get isLosing(): boolean {
    return !this.#isStable && this.#has.some((has, bucket) => has === ready && !this.#isAimedAt(bucket));
  }

  /** What has to be stopped; nothing of it is begun until `stopped`, even if the target gives it back. */
  stop(): Buckets {
    this.#stopping = this.#where((bucket) => this.#has[bucket] === ready && !this.#isAimedAt(bucket));
    return this.#stopping;
  }

  /** Nothing of it is being done any more. What the target has given back meanwhile is kept, and returned. */
  stopped(): Buckets {
    const stopping = this.#stopping;
    this.#stopping = undefined;
    const kept = this.#where((bucket) => stopping?.has(bucket) === true && this.#isAimedAt(bucket));
    for (const bucket of this.#has.keys())
      if (stopping?.has(bucket) === true && !kept.has(bucket)) this.#has[bucket] = none;
    return kept;
  }

  /** Number of the latest grant that has to be prepared; undefined when there is none. */
  get toPrepare(): number | undefined {
    return !this.#isStable && this.#has.some((has) => has > none) ? this.#grants : undefined;
  }

  /** What was granted up to this number may be acted on from now on; returns what that is. */
  prepared(grant: number): Buckets {
    const gained = this.#where((bucket) => this.#isBeingPrepared(bucket) && (this.#has[bucket] ?? none) <= grant);
    for (const bucket of this.#has.keys()) if (gained.has(bucket)) this.#has[bucket] = ready;
    return gained;
  }

  /** Share of everything that it may act on. */
  get share(): number {
    return this.#has.reduce((count, has) => count + (has === ready ? 1 : 0), 0) / this.#buckets;
  }

  /** Members that still claim what is to be this one's. */
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

  /** An equal view that is there already has worked out its winners. */
  #known(view: AssignmentView): AssignmentView {
    const views = [this.#target, ...this.#claims, ...[...this.#others.values()].map((other) => other.view)];
    return views.find((known) => known?.equals(view)) ?? view;
  }

  #living(now: number): Other[] {
    return [...this.#others.values()].filter((other) => expiresAt(other) > now);
  }

  /** What was granted and not begun needs no stopping. */
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

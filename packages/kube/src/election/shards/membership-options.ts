import type { Clock } from '../../runtime/clock.ts';
import type { ObservedMember } from './assignment.ts';
import type { AssignmentView } from './rendezvous.ts';
import type { Logger } from 'pino';

/** Leases of all members in the API server. Writes are guarded by the version that was read last. */
export interface MemberLeases {
  /** Resolves with the version of the lease. */
  create(view: AssignmentView, signal: AbortSignal): Promise<string>;
  renew(view: AssignmentView, version: string, signal: AbortSignal): Promise<string>;
  /** All members, including every write before the request. */
  list(signal: AbortSignal): Promise<readonly ObservedMember[]>;
  remove(member: Pick<ObservedMember, 'name' | 'version'>, signal?: AbortSignal): Promise<void>;
}

export interface MembershipTimes {
  readonly leaseMs: number;
  /** A member that cannot renew for this long stops; shorter than `leaseMs`. */
  readonly renewMs: number;
  /** Interval of renewals. */
  readonly retryMs: number;
}

/** Called when keys are lost and gained. `isConcerned` is true for these keys. */
export interface ShardCallbacks {
  /** Starts no reconcile of the keys, finishes running ones and releases their connections. */
  stop(isConcerned: (key: string) => boolean): Promise<void>;
  /** Brings the caches up to date with all writes so far. */
  prepare(): Promise<void>;
  /** The member owns the keys from now on. */
  start(isConcerned: (key: string) => boolean): void;
}

export interface MembershipOptions {
  /** Unique per process. */
  readonly self: string;
  readonly leases: MemberLeases;
  readonly times: MembershipTimes;
  readonly clock: Clock;
  readonly log: Logger;
  /** Number of buckets, for simulations. */
  readonly buckets?: number;
}

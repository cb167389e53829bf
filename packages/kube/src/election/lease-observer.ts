import type { Lease } from '../kinds/builtin.ts';
import type { Clock } from '../runtime/clock.ts';
import { isNewerVersion } from '../cache/versions.ts';

export interface LeaseObserverOptions {
  readonly clock: Clock;
  /** Of the candidate that looks. */
  readonly identity: string;
  /** For a lease that does not say how long it is. */
  readonly leaseMs: number;
  /** How often the holder renews, and how often is asked what nobody tells. */
  readonly retryMs: number;
}

/**
 * What a candidate has seen of the one lease, and when it is worth a try to take it:
 *
 *   watch ───► told ──────┐
 *                         ├─► newer than what was seen: the lease time begins now ─► over: try
 *   reads ───► answered ──┘   as old or older: nothing new                           given back, deleted: try at once
 *
 * Each version counts from when it was first seen, by the clock of this process. A watch that tells of renewals saves the
 * reads; one that is silent, for whatever reason, saves none.
 */
export class LeaseObserver {
  readonly #options: LeaseObserverOptions;
  #version: string | undefined;
  /** When the lease is over, unless a newer version is seen. */
  #endsAt = 0;
  /** When it was seen that nobody else holds it. */
  #freedAt = 0;
  /** When the watch told of something new. */
  #watchedAt = 0;
  #changed = new AbortController();

  constructor(options: LeaseObserverOptions) {
    this.#options = options;
  }

  /** The newest version that was seen. */
  get version(): string | undefined {
    return this.#version;
  }

  /** The watch tells of the lease; undefined says that it was deleted. */
  onWatch(lease: Lease | undefined): void {
    if (lease === undefined) this.#free();
    else if (this.#observe(lease)) this.#watchedAt = this.#options.clock.now();
  }

  /**
   * The API server answers a question that was asked when `known` was the newest version seen. Answers are as new as the
   * question: an older version means that etcd was restored from a backup, and versions begin anew.
   */
  onRead(lease: Lease, known: string | undefined): void {
    if (isNewerVersion(known, lease.metadata.resourceVersion)) this.#version = undefined;
    this.#observe(lease);
  }

  /** Its holder did not renew it for the whole lease time, and this is the version that he left. */
  isOver({ metadata }: Lease): boolean {
    return metadata.resourceVersion === this.#version && this.#options.clock.now() >= this.#endsAt;
  }

  /** Resolves when the next try after that one is worth it; rejects when the signal is aborted first. */
  async untilAcquirable(triedAt: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const inMs = this.#nextTryAt(triedAt) - clock.now();
      if (inMs <= 0) return;
      this.#changed = new AbortController();
      const interrupted = AbortSignal.any([signal, this.#changed.signal]);
      await clock.sleep(inMs, interrupted).catch(() => signal.throwIfAborted());
    }
  }

  /**
   * A holder lets `retryMs` pass between two renewals. So two of them without a word from the watch mean that it missed
   * one renewal at most, or that there was none; then reads go on as if there were no watch.
   */
  #nextTryAt(triedAt: number): number {
    const { retryMs } = this.#options;
    if (this.#freedAt > triedAt) return this.#freedAt;
    const readAt = Math.max(triedAt + retryMs, this.#watchedAt + 2 * retryMs);
    return this.#endsAt > triedAt ? Math.min(readAt, this.#endsAt) : readAt;
  }

  /** Whether it is newer than what was seen. */
  #observe({ metadata, spec }: Lease): boolean {
    if (!isNewerVersion(metadata.resourceVersion, this.#version)) return false;
    const { clock, identity, leaseMs } = this.#options;
    this.#version = metadata.resourceVersion;
    this.#endsAt = clock.now() + (spec?.leaseDurationSeconds ?? leaseMs / 1_000) * 1_000;
    if (['', identity].includes(spec?.holderIdentity ?? '')) this.#free();
    this.#changed.abort();
    return true;
  }

  #free(): void {
    this.#freedAt = this.#options.clock.now();
    this.#changed.abort();
  }
}

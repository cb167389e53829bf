import type { Lease } from '../kinds/builtin.ts';
import type { Clock } from '../runtime/clock.ts';
import { isNewerVersion } from '../cache/versions.ts';

export interface LeaseObserverOptions {
  readonly clock: Clock;
  /** Of the candidate. */
  readonly identity: string;
  /** Lease duration of a lease without one. */
  readonly leaseMs: number;
  /** Interval of the holder's renewals, and of reads without a watch. */
  readonly retryMs: number;
}

/**
 * Decides when a candidate may try to acquire the lease, from what it observed of it:
 *
 *   watch ─► onWatch ──┐
 *                      ├─► newer resourceVersion: the lease duration starts now ─► expired: try
 *   reads ─► onRead ───┘   same or older: ignored                                  released, deleted: try at once
 *
 * A version counts from when this process first observed it, by its own clock. A watch that delivers renewals saves the
 * reads; without its events the reads continue.
 */
export class LeaseObserver {
  readonly #options: LeaseObserverOptions;
  #version: string | undefined;
  /** When the lease expires, unless it is renewed. */
  #endsAt = 0;
  /** When no other holder was observed. */
  #freedAt = 0;
  /** When the watch delivered a newer version. */
  #watchedAt = 0;
  #changed = new AbortController();

  constructor(options: LeaseObserverOptions) {
    this.#options = options;
  }

  /** The newest version observed. */
  get version(): string | undefined {
    return this.#version;
  }

  /** The watch delivered the lease; undefined: it was deleted. */
  onWatch(lease: Lease | undefined): void {
    if (lease === undefined) this.#free();
    else if (this.#observe(lease)) this.#watchedAt = this.#options.clock.now();
  }

  /**
   * A read returned the lease; `known` was the newest version when it was sent. A read is no older than its request: an
   * older version means that etcd was restored from a backup, and versions start again. Returns whether it is older.
   */
  onRead(lease: Lease, known: string | undefined): boolean {
    const isOlder = isNewerVersion(known, lease.metadata.resourceVersion);
    if (isOlder) this.#version = undefined;
    this.#observe(lease);
    return isOlder;
  }

  /** Expired: the holder did not renew this, the last observed, version for the lease duration. */
  isOver({ metadata }: Lease): boolean {
    return metadata.resourceVersion === this.#version && this.#options.clock.now() >= this.#endsAt;
  }

  /** Resolves when the next attempt is due; rejects when the signal is aborted first. */
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
   * A holder renews every `retryMs`. After two of them without an event of the watch, it has missed at most one renewal, or
   * there was none; then reads continue as without a watch.
   */
  #nextTryAt(triedAt: number): number {
    const { retryMs } = this.#options;
    if (this.#freedAt > triedAt) return this.#freedAt;
    const readAt = Math.max(triedAt + retryMs, this.#watchedAt + 2 * retryMs);
    return this.#endsAt > triedAt ? Math.min(readAt, this.#endsAt) : readAt;
  }

  /** True if it is newer than the last one. */
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

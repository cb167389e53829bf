import { Histogram, type Registry } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';

/** Writes whose events are waited for; those that wait longest are given up first: some are never told. */
const mostAwaited = 1_000;

export const watchLagHistogram = (registry: Registry): Histogram =>
  new Histogram({
    name: 'kube_cache_watch_lag_seconds',
    help: 'Time from the answer to a write of this process to the event of its watch that tells the same',
    labelNames: ['resource'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60],
    registers: [registry],
  });

export interface WatchLagOptions {
  readonly clock: Clock;
  readonly histogram: Histogram;
  readonly resource: string;
}

/**
 * How far a watch is behind what this process knows already. A write whose event came before its answer is not counted:
 * it looks like one that changed nothing, for which there is no event.
 */
export class WatchLag {
  readonly #options: WatchLagOptions;
  readonly #writtenAt = new Map<string, number>();

  constructor(options: WatchLagOptions) {
    this.#options = options;
  }

  /** The answer to a write was the first to tell this version. */
  wrote(resourceVersion: string | undefined): void {
    if (resourceVersion === undefined) return;
    this.#writtenAt.set(resourceVersion, this.#options.clock.now());
    const [oldest = ''] = this.#writtenAt.keys();
    if (this.#writtenAt.size > mostAwaited) this.#writtenAt.delete(oldest);
  }

  /** The watch told this version. */
  arrived(resourceVersion: string | undefined = ''): void {
    const { clock, histogram, resource } = this.#options;
    const writtenAt = this.#writtenAt.get(resourceVersion);
    if (writtenAt === undefined) return;
    this.#writtenAt.delete(resourceVersion);
    histogram.observe({ resource }, (clock.now() - writtenAt) / 1_000);
  }

  /** A list has told everything: the events before it do not come any more. */
  forget(): void {
    this.#writtenAt.clear();
  }
}

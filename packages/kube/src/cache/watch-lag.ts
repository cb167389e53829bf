import { Histogram, type Registry } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';

/** Writes that await their events; the oldest are dropped first, since some events never arrive. */
const mostAwaited = 1_000;

export const watchLagHistogram = (registry: Registry): Histogram =>
  new Histogram({
    name: 'kube_cache_watch_lag_seconds',
    help: 'Time from the response to a write of this process until its own watch delivers it',
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
 * How far a watch lags behind the writes of this process. A write whose event precedes its response is not counted: it
 * looks like one that changed nothing, which has no event.
 */
export class WatchLag {
  readonly #options: WatchLagOptions;
  readonly #writtenAt = new BoundedMap<string, number>(mostAwaited);

  constructor(options: WatchLagOptions) {
    this.#options = options;
  }

  /** A response to a write had this version first. */
  wrote(resourceVersion: string | undefined): void {
    if (resourceVersion === undefined) return;
    this.#writtenAt.set(resourceVersion, this.#options.clock.now());
  }

  /** The watch has this version. */
  arrived(resourceVersion: string | undefined = ''): void {
    const { clock, histogram, resource } = this.#options;
    const writtenAt = this.#writtenAt.get(resourceVersion);
    if (writtenAt === undefined) return;
    this.#writtenAt.delete(resourceVersion);
    histogram.observe({ resource }, (clock.now() - writtenAt) / 1_000);
  }

  /** After a list: the events before it do not arrive any more. */
  forget(): void {
    this.#writtenAt.clear();
  }
}

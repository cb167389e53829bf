import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { BmcConnectionPool } from './connection-pool.ts';
import type { OperatorCaches } from '../caches.ts';

export interface BmcEventRefresherOptions {
  readonly bmcConnections: BmcConnectionPool;
  readonly caches: Pick<OperatorCaches, 'bmcs' | 'servers'>;
  readonly clock: Clock;
  /** With several replicas: the BMC belongs to this one. Without it, all BMCs are refreshed here. */
  readonly mayRefresh?: (bmcName: string) => boolean;
}

/** Minimum interval between two refreshes of a BMC that sends events all the time. */
const throttleMs = 10_000;

/**
 * Refreshes a BMC and its machines early when the BMC sends an event. The content of an event is not used: anybody with the
 * token could have sent it.
 *
 *   event ──► refresh ── 10 s ──► (another refresh, if there were more events meanwhile) ── 10 s ──► …
 */
export class BmcEventRefresher implements Disposable {
  readonly #options: BmcEventRefresherOptions;
  /** BMCs that were refreshed less than 10 s ago, and whether they sent another event since. */
  readonly #throttled = new Map<string, { pendingEvent: boolean; readonly timer: Disposable }>();

  constructor(options: BmcEventRefresherOptions) {
    this.#options = options;
  }

  onEvent(bmcName: string): void {
    const throttled = this.#throttled.get(bmcName);
    if (throttled !== undefined) throttled.pendingEvent = true;
    else this.#refresh(bmcName);
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#throttled.values()) timer[Symbol.dispose]();
    this.#throttled.clear();
  }

  #refresh(bmcName: string): void {
    const { bmcConnections, caches, clock, mayRefresh } = this.#options;
    if (caches.bmcs.get(bmcName) === undefined || mayRefresh?.(bmcName) === false) return;
    const timer = clock.setTimeout(throttleMs, () => {
      const pendingEvent = this.#throttled.get(bmcName)?.pendingEvent === true;
      this.#throttled.delete(bmcName);
      if (pendingEvent) this.#refresh(bmcName);
    });
    this.#throttled.set(bmcName, { pendingEvent: false, timer });
    bmcConnections.observedBmc(bmcName, undefined).invalidate();
    bmcConnections.bmcChanged.emit(bmcName);
    for (const { metadata } of caches.servers.by('bmc', bmcName)) {
      bmcConnections.observedSystem(metadata.uid ?? '').invalidate();
      bmcConnections.serverStale.emit(metadata.name);
    }
  }
}

import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { BmcConnectionPool } from './connection-pool.ts';
import type { OperatorCaches } from '../caches.ts';

export interface BmcEventRefresherOptions {
  readonly bmcConnections: BmcConnectionPool;
  readonly caches: Pick<OperatorCaches, 'bmcs' | 'servers'>;
  readonly clock: Clock;
  /** Where replicas share the BMCs, those of others are theirs to look at; without it, all may be looked at here. */
  readonly mayRefresh?: (bmcName: string) => boolean;
}

/** A BMC that talks without end is looked at this often and not more. */
const throttleMs = 10_000;

/**
 * Turns what BMCs push into looks: a BMC that says that something changed is looked at before its time, and so are its
 * machines. What was pushed is never believed as such: it only says when to look.
 *
 *   event ──► look ── 10 s ──► (another look, if there were more events meanwhile) ── 10 s ──► …
 */
export class BmcEventRefresher implements Disposable {
  readonly #options: BmcEventRefresherOptions;
  /** BMCs that were looked at a moment ago; true when they have spoken since. */
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

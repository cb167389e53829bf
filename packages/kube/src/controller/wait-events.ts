import { eventDelayOf, type Weighted } from './event-type.ts';

interface KnownWait {
  readonly reason: string;
  readonly since: number;
  readonly isRecorded: boolean;
}

/**
 * When a wait gets its event, once: the heavier its reason, the sooner.
 *
 *   wait A (needs a person) ── 1 min ─► event A ── wait A … (nothing) ── wait B (failed) ─► event B
 */
export class WaitEvents {
  readonly #waits = new Map<string, KnownWait>();

  /** The milliseconds until the wait is due for its event: 0 now, and only once; Infinity for never. */
  dueInMs(key: string, reason: string, entry: Weighted, now: number): number {
    const delayMs = eventDelayOf(entry);
    if (delayMs === Infinity) {
      this.#waits.delete(key);
      return Infinity;
    }
    const before = this.#waits.get(key);
    const wait = before?.reason === reason ? before : { reason, since: now, isRecorded: false };
    const dueInMs = wait.isRecorded ? Infinity : Math.max(0, wait.since + delayMs - now);
    this.#waits.set(key, dueInMs === 0 ? { ...wait, isRecorded: true } : wait);
    return dueInMs;
  }

  /** An event of this reason was recorded, such as that of a change of phase. */
  recorded(key: string, reason: string, now: number): void {
    this.#waits.set(key, { reason, since: now, isRecorded: true });
  }

  /** It waits no longer. */
  delete(key: string): void {
    this.#waits.delete(key);
  }
}

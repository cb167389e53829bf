import { seconds } from '../runtime/durations.ts';

/** A wait that ends sooner is not written: the status then shows its result. */
const defaultDebounceMs = seconds(5);
/** Even if one wait follows another, the status is written after this long. */
const maxDebounceMs = seconds(15);

interface PendingWait {
  readonly reason: string;
  readonly since: number;
  readonly unreportedSince: number;
}

/**
 * Unreported waits, by key. An object in progress reports where it is stuck, not every step:
 *
 *   reported ─► wait A ── 5 s ─► reported
 *                 └─ wait B ─ wait C … ── 15 s since A ─► reported
 */
export class StatusDebouncer {
  readonly #waits = new Map<string, PendingWait>();

  /** Milliseconds for which the wait may still be unreported; 0 or less: report it now. */
  remainingMs(key: string, reason: string, now: number, debounceMs = defaultDebounceMs): number {
    const before = this.#waits.get(key);
    const wait =
      before?.reason === reason ? before : { reason, since: now, unreportedSince: before?.unreportedSince ?? now };
    this.#waits.set(key, wait);
    return Math.min(wait.since + debounceMs, wait.unreportedSince + Math.max(maxDebounceMs, debounceMs)) - now;
  }

  /** After a report, or if there is none. */
  delete(key: string): void {
    this.#waits.delete(key);
  }
}

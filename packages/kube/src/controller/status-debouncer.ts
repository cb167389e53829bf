import { seconds } from '../runtime/durations.ts';

/** A wait that ends sooner is not worth a write: whoever looks finds what came of it. */
const defaultDebounceMs = seconds(5);
/** However quickly one wait follows another, something is said after this long. */
const maxDebounceMs = seconds(15);

interface PendingWait {
  readonly reason: string;
  readonly since: number;
  readonly unreportedSince: number;
}

/**
 * What the API does not say yet of objects that wait, and since when:
 *
 *   told ─► wait A ── 5 s ─► told            an object that is on its way says where it got stuck, not every step
 *             └─ wait B ─ wait C … ── 15 s since A ─► told
 */
export class StatusDebouncer {
  readonly #waits = new Map<string, PendingWait>();

  /** Milliseconds for which the wait may still go untold; 0 or less when it is to be told now. */
  remainingMs(key: string, reason: string, now: number, debounceMs = defaultDebounceMs): number {
    const before = this.#waits.get(key);
    const wait =
      before?.reason === reason ? before : { reason, since: now, unreportedSince: before?.unreportedSince ?? now };
    this.#waits.set(key, wait);
    return Math.min(wait.since + debounceMs, wait.unreportedSince + Math.max(maxDebounceMs, debounceMs)) - now;
  }

  /** It was told, or there is nothing to tell. */
  delete(key: string): void {
    this.#waits.delete(key);
  }
}

import type { Clock } from '../runtime/clock.ts';

/** Told about a key's way through the queue, for metrics. */
export interface QueueObserver {
  added(): void;
  started(waitedMs: number): void;
  retried(): void;
}

interface Delayed {
  readonly dueAt: number;
  readonly timer: Disposable;
}

const firstBackoffMs = 5;
const longestBackoffMs = 5 * 60_000;
/** Of a backlog: enough to keep the process busy, and few to stand in front of what happens meanwhile. */
const initialListBatch = 64;
/** One that takes longer waits for a BMC that does not answer, which costs nobody anything: it keeps no other back. */
const slotTimeoutMs = 1_000;

/**
 * Keys to be worked on. A key that is asked for twice is worked on once, at the earlier time; a key that is being
 * worked on is held back until it is done; keys that are due are taken in the order in which they became due.
 *
 *   add ──────────────────────► due ──► taken ──► done
 *   addBacklog ──► 64 at once ───▲                  └─► makes room for the next of the backlog
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #observer: QueueObserver | undefined;
  readonly #ready = new Map<string, number>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #running = new Map<string, number>();
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #initialList = new Set<string>();
  /** Keys of the backlog that are due or worked on, until they do not count any more; worked on with a timer. */
  readonly #initialInFlight = new Map<string, Disposable | undefined>();
  #onReady: () => void = () => undefined;
  #closed = false;

  constructor({
    clock,
    random = Math.random,
    observer,
  }: { clock: Clock; random?: () => number; observer?: QueueObserver | undefined }) {
    this.#clock = clock;
    this.#random = random;
    this.#observer = observer;
  }

  get depth(): number {
    return this.#ready.size + this.#initialList.size;
  }

  /** Start times of the keys being worked on, in milliseconds of the clock. */
  get runningSince(): Iterable<number> {
    return this.#running.values();
  }

  /** Called whenever a key may be taken. */
  set onReady(callback: () => void) {
    this.#onReady = callback;
  }

  /** As soon as possible. */
  add(key: string): void {
    if (this.#closed) return;
    this.#cancelDelay(key);
    this.#initialList.delete(key);
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#ready.has(key)) return;
    this.#observer?.added();
    this.#ready.set(key, this.#clock.now());
    this.#onReady();
  }

  /** All there is, for no other reason than that it is there: a few at once, so that what happens meanwhile does not wait. */
  enqueueInitialList(keys: Iterable<string>): void {
    if (this.#closed) return;
    for (const key of keys) if (!this.#ready.has(key)) this.#initialList.add(key);
    this.#continueInitialList();
  }

  /** After the delay, unless it becomes due earlier for another reason. */
  addAfter(key: string, delayMs: number): void {
    if (delayMs <= 0) return this.add(key);
    if (this.#closed || this.#ready.has(key)) return;
    const dueAt = this.#clock.now() + delayMs;
    const earlier = this.#delayed.get(key);
    if (earlier !== undefined && earlier.dueAt <= dueAt) return;
    earlier?.timer[Symbol.dispose]();
    const timer = this.#clock.setTimeout(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { dueAt, timer });
  }

  /** After a pause that doubles with each failure in a row, with jitter. Returns the pause in milliseconds. */
  addAfterFailure(key: string, atLeastMs = 0): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#observer?.retried();
    const pauseMs = Math.max(
      Math.min(firstBackoffMs * 2 ** failures, longestBackoffMs) * (0.75 + this.#random() / 4),
      atLeastMs,
    );
    this.addAfter(key, pauseMs);
    return pauseMs;
  }

  /** The key succeeded: its next failure starts with the shortest pause. */
  resetBackoff(key: string): void {
    this.#failures.delete(key);
  }

  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The key that has been due longest, or undefined. It must be given back with `done`. */
  take(): string | undefined {
    const [next] = this.#ready;
    if (next === undefined) return undefined;
    const [key, since] = next;
    this.#ready.delete(key);
    this.#running.set(key, this.#clock.now());
    this.#startSlotTimeout(key);
    this.#observer?.started(this.#clock.now() - since);
    return key;
  }

  done(key: string): void {
    this.#running.delete(key);
    if (this.#again.delete(key)) this.add(key);
    this.#releaseSlot(key);
  }

  /** The object is gone: nothing of it is kept. */
  remove(key: string): void {
    this.#cancelDelay(key);
    this.#initialList.delete(key);
    this.#failures.delete(key);
  }

  /** Takes nothing more; what waits is dropped. */
  close(): void {
    this.#closed = true;
    this.#ready.clear();
    this.#initialList.clear();
    for (const timer of this.#initialInFlight.values()) timer?.[Symbol.dispose]();
    this.#initialInFlight.clear();
    for (const key of this.#delayed.keys()) this.#cancelDelay(key);
  }

  #continueInitialList(): void {
    for (const key of this.#initialList) {
      if (this.#initialInFlight.size >= initialListBatch) return;
      if (!this.#initialInFlight.has(key)) this.#initialInFlight.set(key, undefined);
      this.add(key);
    }
  }

  /** From now on it counts for so long, or until it is done. */
  #startSlotTimeout(key: string): void {
    if (!this.#initialInFlight.has(key)) return;
    this.#initialInFlight.get(key)?.[Symbol.dispose]();
    this.#initialInFlight.set(
      key,
      this.#clock.setTimeout(slotTimeoutMs, () => this.#releaseSlot(key)),
    );
  }

  #releaseSlot(key: string): void {
    this.#initialInFlight.get(key)?.[Symbol.dispose]();
    if (this.#initialInFlight.delete(key)) this.#continueInitialList();
  }

  #cancelDelay(key: string): void {
    this.#delayed.get(key)?.timer[Symbol.dispose]();
    this.#delayed.delete(key);
  }
}

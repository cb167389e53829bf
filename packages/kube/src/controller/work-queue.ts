import type { Clock } from '../runtime/clock.ts';

/** Observes keys in the queue, for metrics. */
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
/** Keys of an initial list at once: enough to keep the process busy, few enough for new events. */
const initialListBatch = 64;
/** A reconcile that takes longer waits for an unreachable BMC, which costs no CPU: its slot goes to the next key. */
const slotTimeoutMs = 1_000;

/**
 * Work queue of object keys. A key that is added twice is processed once, at the earlier time; a key that is being
 * processed is held back until it is done; due keys are taken in the order in which they became due.
 *
 *   add ──────────────────────────────► due ──► taken ──► done
 *   enqueueInitialList ──► 64 at once ───▲                  └─► frees a slot for the next key
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
  /** Keys of the initial list that hold a slot. A key has a timer while it is being processed. */
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

  /** Start times of the keys being processed, in milliseconds of the clock. */
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

  /** Adds the keys of an initial list a few at a time, so that keys of new events do not wait behind all of them. */
  enqueueInitialList(keys: Iterable<string>): void {
    if (this.#closed) return;
    for (const key of keys) if (!this.#ready.has(key)) this.#initialList.add(key);
    this.#continueInitialList();
  }

  /** After the delay, unless the key becomes due earlier. */
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

  /** After a backoff that doubles with each failure in a row, with jitter. Returns it in milliseconds. */
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

  /** After a success: the next failure starts with the shortest backoff. */
  resetBackoff(key: string): void {
    this.#failures.delete(key);
  }

  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The key that has been due longest, or undefined. The caller must call `done`. */
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

  /** Drops a key, its delay and its backoff. */
  remove(key: string): void {
    this.#cancelDelay(key);
    this.#initialList.delete(key);
    this.#failures.delete(key);
  }

  /** Drops waiting keys and accepts no more. */
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

  /** The slot is released at `done`, or after a timeout. */
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

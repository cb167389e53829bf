import type { Clock } from './clock.ts';
import { seconds } from './durations.ts';
import { KeyNotifier } from './key-notifier.ts';

/** Enough to keep the API server busy, wherever a server waits some seconds for its machine. */
const defaultMaxInFlight = 200;
/** An item that takes longer waits for a machine, its BMC or a person, at no cost: its slot goes to another. */
const defaultSlotTimeoutMs = seconds(30);

export interface InFlightLimiterOptions {
  readonly clock: Clock;
  readonly maxInFlight?: number | undefined;
  /** An item holds its slot no longer than this. */
  readonly slotTimeoutMs?: number | undefined;
}

/** Limits the items in flight. Advisory: `acquire` never blocks, and callers decide what to start next. */
export class InFlightLimiter implements Disposable {
  /** Emits an item when its slot is free: after `release`, or its timeout. */
  readonly released = new KeyNotifier();
  readonly #options: InFlightLimiterOptions;
  readonly #inFlight = new Map<string, Disposable>();

  constructor(options: InFlightLimiterOptions) {
    this.#options = options;
  }

  /** Number of free slots. */
  get available(): number {
    return Math.max(0, (this.#options.maxInFlight ?? defaultMaxInFlight) - this.#inFlight.size);
  }

  has(name: string): boolean {
    return this.#inFlight.has(name);
  }

  /** If it holds a slot, its timeout stays. */
  acquire(name: string): void {
    if (this.#inFlight.has(name)) return;
    const { clock, slotTimeoutMs = defaultSlotTimeoutMs } = this.#options;
    this.#inFlight.set(
      name,
      clock.setTimeout(slotTimeoutMs, () => this.release(name)),
    );
  }

  release(name: string): void {
    this.#inFlight.get(name)?.[Symbol.dispose]();
    if (this.#inFlight.delete(name)) this.released.emit(name);
  }

  [Symbol.dispose](): void {
    for (const timer of this.#inFlight.values()) timer[Symbol.dispose]();
    this.#inFlight.clear();
  }
}

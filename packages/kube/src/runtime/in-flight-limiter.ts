import type { Clock } from './clock.ts';
import { seconds } from './durations.ts';
import { KeyNotifier } from './key-notifier.ts';

/** Enough to keep the API server busy, wherever a server waits some seconds for its machine. */
const defaultMaxInFlight = 200;
/** One that takes longer waits for a machine, its BMC or a person, which costs nobody anything: it keeps no other out. */
const defaultSlotTimeoutMs = seconds(30);

export interface InFlightLimiterOptions {
  readonly clock: Clock;
  /** So many are on their way at once. */
  readonly maxInFlight?: number | undefined;
  /** Nobody counts for longer. */
  readonly slotTimeoutMs?: number | undefined;
}

/** Who is on the way, so that others can wait until there is room. Whom to let in next is up to those who ask. */
export class InFlightLimiter implements Disposable {
  /** The named one is not on its way any more, or has been for so long that it does not count. */
  readonly released = new KeyNotifier();
  readonly #options: InFlightLimiterOptions;
  readonly #inFlight = new Map<string, Disposable>();

  constructor(options: InFlightLimiterOptions) {
    this.#options = options;
  }

  /** How many more may enter. */
  get available(): number {
    return Math.max(0, (this.#options.maxInFlight ?? defaultMaxInFlight) - this.#inFlight.size);
  }

  has(name: string): boolean {
    return this.#inFlight.has(name);
  }

  /** One that is on its way already does not begin anew. */
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

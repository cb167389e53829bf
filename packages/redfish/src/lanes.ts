import type { Clock } from './clock.ts';
import { closedError } from './errors.ts';

/** In this order: what people and machines wait for goes before what is only looked at. */
export const priorities = ['power', 'boot', 'inventory', 'telemetry'] as const;
export type Priority = (typeof priorities)[number];

interface Waiting {
  readonly start: () => void;
  readonly refuse: (error: unknown) => void;
}

/** The queue in front of one BMC: a few at a time, the urgent first, then in order of arrival. */
export class Lanes {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #lanes = new Map<Priority, Set<Waiting>>(priorities.map((priority) => [priority, new Set()]));
  #running = 0;
  #quietUntil = 0;
  #alarm: Disposable | undefined;
  #closed = false;

  constructor(clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Runs the work when it is its turn; rejects with the signal's reason if that is aborted while waiting. */
  async run<T>(priority: Priority, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    await this.#turn(priority, signal);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#startNext();
    }
  }

  /** Starts nothing for a while. Some BMCs freeze when they are talked to right after a power action. */
  pause(forMs: number): void {
    this.#quietUntil = Math.max(this.#quietUntil, this.#clock.now() + forMs);
  }

  /** Refuses everyone who waits and everyone who comes. */
  close(): void {
    this.#closed = true;
    this.#alarm?.[Symbol.dispose]();
    for (const lane of this.#lanes.values()) {
      for (const waiting of lane) waiting.refuse(closedError());
      lane.clear();
    }
  }

  #turn(priority: Priority, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const lane = this.#lanes.get(priority);
    const onAbort = () => {
      lane?.delete(waiting);
      reject(signal?.reason);
    };
    const settle = (then: () => void) => {
      signal?.removeEventListener('abort', onAbort);
      then();
    };
    const waiting: Waiting = { start: () => settle(resolve), refuse: (error) => settle(() => reject(error)) };
    signal?.addEventListener('abort', onAbort, { once: true });
    lane?.add(waiting);
    this.#startNext();
    return promise;
  }

  #startNext(): void {
    if (this.#isQuiet()) return;
    while (this.#running < this.#limit) {
      const next = this.#shift();
      if (next === undefined) return;
      this.#running += 1;
      next.start();
    }
  }

  #isQuiet(): boolean {
    const remainingMs = this.#quietUntil - this.#clock.now();
    if (remainingMs <= 0) return false;
    // Timers may fire a little early, hence another look at the clock when this one does.
    this.#alarm ??= this.#clock.setTimeout(Math.max(1, remainingMs), () => {
      this.#alarm = undefined;
      this.#startNext();
    });
    return true;
  }

  #shift(): Waiting | undefined {
    for (const lane of this.#lanes.values()) {
      const [first] = lane;
      if (first === undefined) continue;
      lane.delete(first);
      return first;
    }
    return undefined;
  }
}

import type { Clock } from './clock.ts';
import { closedError } from '../errors.ts';

/** In this order: what people and machines wait for goes before what is only looked at. */
export const priorities = ['power', 'boot', 'inventory', 'telemetry'] as const;
export type Priority = (typeof priorities)[number];

interface QueuedRequest {
  readonly start: () => void;
  readonly reject: (error: unknown) => void;
}

/** The queue in front of one BMC: a few at a time, the urgent first, then in order of arrival. */
export class PriorityRequestQueue {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #queues = new Map<Priority, Set<QueuedRequest>>(priorities.map((priority) => [priority, new Set()]));
  #running = 0;
  #pausedUntil = 0;
  #timer: Disposable | undefined;
  #closed = false;

  constructor(clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Runs the work when it is its turn; rejects with the signal's reason if that is aborted while waiting. */
  async run<T>(priority: Priority, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    await this.#enqueue(priority, signal);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#startNext();
    }
  }

  /** Starts nothing for a while. Some BMCs freeze when they are talked to right after a power action. */
  pause(forMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + forMs);
  }

  /** Refuses everyone who waits and everyone who comes. */
  close(): void {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
    for (const queue of this.#queues.values()) {
      for (const queued of queue) queued.reject(closedError());
      queue.clear();
    }
  }

  #enqueue(priority: Priority, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#queues.get(priority);
    const onAbort = () => {
      queue?.delete(queued);
      reject(signal?.reason);
    };
    const finish = (then: () => void) => {
      signal?.removeEventListener('abort', onAbort);
      then();
    };
    const queued: QueuedRequest = { start: () => finish(resolve), reject: (error) => finish(() => reject(error)) };
    signal?.addEventListener('abort', onAbort, { once: true });
    queue?.add(queued);
    this.#startNext();
    return promise;
  }

  #startNext(): void {
    if (this.#isPaused()) return;
    while (this.#running < this.#limit) {
      const next = this.#shift();
      if (next === undefined) return;
      this.#running += 1;
      next.start();
    }
  }

  #isPaused(): boolean {
    const remainingMs = this.#pausedUntil - this.#clock.now();
    if (remainingMs <= 0) return false;
    // Timers may fire a little early, hence another look at the clock when this one does.
    this.#timer ??= this.#clock.setTimeout(Math.max(1, remainingMs), () => {
      this.#timer = undefined;
      this.#startNext();
    });
    return true;
  }

  #shift(): QueuedRequest | undefined {
    for (const queue of this.#queues.values()) {
      const [first] = queue;
      if (first === undefined) continue;
      queue.delete(first);
      return first;
    }
    return undefined;
  }
}

import { closedError } from '../errors.ts';
import type { Clock } from './clock.ts';
import type { Interceptor } from './interceptor.ts';
import { priorities, type Priority } from './request.ts';

interface QueuedRequest {
  readonly start: () => void;
  readonly reject: (error: unknown) => void;
}

export interface PriorityRequestQueueOptions {
  readonly clock: Clock;
  /** Concurrent requests. */
  readonly inFlight: number;
  /** No request starts for this long after a power action. */
  readonly gapAfterPowerMs: number;
}

/** The request queue of one BMC: limited concurrency, highest priority first, then in order of arrival. */
export class PriorityRequestQueue {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #gapAfterPowerMs: number;
  readonly #queues = new Map<Priority, Set<QueuedRequest>>(priorities.map((priority) => [priority, new Set()]));
  #running = 0;
  #pausedUntil = 0;
  #timer: Disposable | undefined;
  #closed = false;

  constructor({ clock, inFlight, gapAfterPowerMs }: PriorityRequestQueueOptions) {
    this.#clock = clock;
    this.#limit = inFlight;
    this.#gapAfterPowerMs = gapAfterPowerMs;
  }

  /** Sends a request when the queue admits it. */
  readonly intercept: Interceptor = (request, next) => {
    const { method, priority = 'inventory', signal } = request;
    if (method !== 'POST' || priority !== 'power') return this.run(priority, signal, () => next(request));
    return this.run(priority, signal, () => next(request).finally(() => this.pause(this.#gapAfterPowerMs)));
  };

  /** Runs the work when the queue admits it; rejects with the signal's reason if that is aborted while queued. */
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

  /** Starts nothing for a while. Some BMCs freeze on requests right after a power action. */
  pause(forMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + forMs);
  }

  /** Rejects queued and later requests. */
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
    // Timers may fire a little early, so the clock is checked again when this one fires.
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

export type Priority = 'power' | 'boot' | 'inventory' | 'telemetry';
const order: readonly Priority[] = ['power', 'boot', 'inventory', 'telemetry'];

/** A few requests at a time, the urgent ones first. */
export class Lanes {
  readonly #limit: number;
  readonly #waiting: Record<Priority, { start: () => void; signal: AbortSignal }[]> = {
    power: [],
    boot: [],
    inventory: [],
    telemetry: [],
  };
  #inFlight = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs the work when it is its turn; rejects with the signal's reason if that is aborted while waiting. */
  async run<T>(priority: Priority, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(priority, signal);
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
      this.#startNext();
    }
  }

  #enter(priority: Priority, signal: AbortSignal): Promise<void> {
    if (this.#inFlight < this.#limit) {
      this.#inFlight += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const entry = { start: resolve, signal };
      this.#waiting[priority].push(entry);
      const leave = () => {
        const queue = this.#waiting[priority];
        const index = queue.indexOf(entry);
        if (index < 0) return;
        queue.splice(index, 1);
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #startNext(): void {
    for (const priority of order) {
      const next = this.#waiting[priority].shift();
      if (next === undefined) continue;
      this.#inFlight += 1;
      next.start();
      return;
    }
  }
}

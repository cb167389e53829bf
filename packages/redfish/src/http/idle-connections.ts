import type { Clock } from './clock.ts';

/** Connections are closed after this much silence. */
export const idleTimeoutMs = 10_000;
/** Connections to one BMC that wait: one to go on with, and that of the last POST, which needs a new one. Each costs 30 kB. */
export const maxIdlePerBmc = 2;
/** A fleet at rest needs none; one at work, those of the servers that it is busy with. */
const defaultMaxIdle = 256;

interface IdlePeriod {
  readonly expire: () => void;
}

/**
 * BMCs whose connections wait for the next request. They are closed when that takes too long, and earlier, the longest
 * silence first, when there are too many of them.
 */
export class IdleConnections {
  readonly #clock: Clock;
  readonly #maxIdle: number;
  /** In the order in which they began. */
  readonly #idlePeriods = new Set<IdlePeriod>();

  constructor({ clock, maxIdle = defaultMaxIdle }: { readonly clock: Clock; readonly maxIdle?: number }) {
    this.#clock = clock;
    this.#maxIdle = maxIdle;
  }

  /** One begins, which is over when disposed; `hangUp` is called if it lasts too long. */
  add(close: () => void): Disposable {
    const timer = this.#clock.setTimeout(idleTimeoutMs, () => idlePeriod.expire());
    const remove = (): void => {
      timer[Symbol.dispose]();
      this.#idlePeriods.delete(idlePeriod);
    };
    const idlePeriod: IdlePeriod = {
      expire: () => {
        remove();
        close();
      },
    };
    this.#idlePeriods.add(idlePeriod);
    if (this.#idlePeriods.size > this.#maxIdle) this.#idlePeriods.values().next().value?.expire();
    return { [Symbol.dispose]: remove };
  }
}

import type { Clock } from './clock.ts';

/** Idle connections are closed after this time. */
export const idleTimeoutMs = 10_000;
/** Idle connections to one BMC: one for the next request, and the one of the last POST, which opens its own. Each costs 30 kB. */
export const maxIdlePerBmc = 2;
/** BMCs with idle connections. A fleet at rest needs none; at work, those whose servers are being changed. */
const defaultMaxIdle = 256;

interface IdlePeriod {
  readonly expire: () => void;
}

/**
 * BMCs with idle connections. These are closed after the idle timeout, and earlier, the longest idle first, when more than
 * `maxIdle` BMCs have some.
 */
export class IdleConnections {
  readonly #clock: Clock;
  readonly #maxIdle: number;
  /** In the order of their start. */
  readonly #idlePeriods = new Set<IdlePeriod>();

  constructor({ clock, maxIdle = defaultMaxIdle }: { readonly clock: Clock; readonly maxIdle?: number }) {
    this.#clock = clock;
    this.#maxIdle = maxIdle;
  }

  /** Starts an idle period, which ends when disposed; `close` is called if it lasts too long. */
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

import type { Clock } from '../src/runtime/clock.ts';

export interface FakeClock extends Clock {
  /** Timers that are neither due nor disposed. */
  readonly pending: number;
  advance(ms: number): void;
}

/** For tests: a clock that moves only by `advance`. */
export function fakeClock(): FakeClock {
  let now = 0;
  const timers = new Map<object, { at: number; callback: () => void }>();
  return {
    now: () => now,
    get pending() {
      return timers.size;
    },
    setTimeout: (delayMs, callback) => {
      const id = {};
      timers.set(id, { at: now + delayMs, callback });
      return { [Symbol.dispose]: () => void timers.delete(id) };
    },
    sleep: () => Promise.reject(new Error('this clock does not sleep')),
    advance: (ms) => {
      now += ms;
      for (const [id, { at, callback }] of [...timers].toSorted(([, a], [, b]) => a.at - b.at)) {
        if (at <= now && timers.delete(id)) callback();
      }
    },
  };
}

import type { Clock } from './clock.ts';

export interface FakeClock extends Clock {
  /** Advances the time; due timers fire in order. */
  advance(ms: number): void;
}

/** A clock that a test advances. */
export function fakeClock(): FakeClock {
  let now = Date.UTC(2026, 0, 1);
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  const setClockTimeout = (delayMs: number, callback: () => void): Disposable => {
    const timer = { at: now + delayMs, callback };
    timers.add(timer);
    return { [Symbol.dispose]: () => void timers.delete(timer) };
  };
  return {
    now: () => now,
    setTimeout: setClockTimeout,
    sleep: (delayMs, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timer = setClockTimeout(delayMs, resolve);
      signal?.addEventListener('abort', () => {
        timer[Symbol.dispose]();
        reject(signal.reason);
      });
      return promise;
    },
    advance: (ms) => {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.callback();
      }
      now = end;
    },
  };
}

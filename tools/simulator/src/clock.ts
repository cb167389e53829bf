/** Time as an argument: a fleet may live faster than the wall clock. */
export interface Clock {
  now(): number;
  setTimeout(delayMs: number, callback: () => void): Disposable;
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export const wallClock: Clock = {
  now: () => Date.now(),
  setTimeout: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  sleep: (delayMs, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, delayMs);
      signal?.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason)), { once: true });
    }),
};

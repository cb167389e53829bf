/** Time as an argument, so that tests can run it faster than the wall. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `callback` once after the delay, unless disposed before. Does not keep the process alive. */
  setTimeout(delayMs: number, callback: () => void): Disposable;
  /** Resolves after the delay; rejects with the signal's reason when it is aborted first. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Node clamps longer delays to 1 ms, which would turn a far deadline into a busy loop. */
const longestTimeoutMs = 2 ** 31 - 1;

/** The wall clock, optionally running `speed` times faster: 10 ms of speed 100 are one second. */
export function createClock(speed = 1): Clock {
  const startedAt = Date.now();
  const startedMonotonic = performance.now();
  const setClockTimeout = (delayMs: number, callback: () => void): Disposable => {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0) / speed, longestTimeoutMs));
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  };
  return {
    now: () => (speed === 1 ? Date.now() : startedAt + (performance.now() - startedMonotonic) * speed),
    setTimeout: setClockTimeout,
    sleep: (delayMs, signal) => sleepOn(setClockTimeout, delayMs, signal),
  };
}

export const systemClock: Clock = createClock();

function sleepOn(
  setClockTimeout: Clock['setTimeout'],
  delayMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted) return Promise.reject(abortReason(signal));
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      timer[Symbol.dispose]();
      reject(abortReason(signal));
    };
    const timer = setClockTimeout(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

const abortReason = (signal: AbortSignal | undefined): Error =>
  signal?.reason instanceof Error ? signal.reason : new Error('aborted');

/** Time as an argument, so that tests can run it faster than the wall. */
export interface Clock {
  /** Milliseconds since the Unix epoch, by the wall clock at the start. Monotonic, without steps. */
  now(): number;
  /** Calls `callback` once after the delay, unless disposed before. Does not keep the process alive. */
  setTimeout(delayMs: number, callback: () => void): Disposable;
  /** Resolves after the delay; rejects with the signal's reason when it is aborted first. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Node clamps longer delays to 1 ms, which would make a distant deadline a busy loop. */
const longestTimeoutMs = 2 ** 31 - 1;

/**
 * The monotonic clock of this process: it reads the wall clock once, at start, and counts from there, optionally `speed`
 * times faster: 10 ms of speed 100 are one second.
 *
 * - A step of the wall clock (by NTP, by a person) changes no duration: "observed 3 s ago" stays true.
 * - The rate is that of the wall clock: NTP slews the monotonic clock as well. Only steps are not followed.
 * - Timestamps in objects are of this clock, too, since they are read back and compared with it. After a step they are off
 *   by the step until the process restarts; see docs/decisions/0035.
 * - While a host is suspended, this clock and all timers stand still. Afterwards the next renewal, guarded by the
 *   resourceVersion of the lease, shows a leader whether another replica leads.
 */
export function createClock(speed = 1): Clock {
  const startedAt = Date.now();
  const startedMonotonic = performance.now();
  const setClockTimeout = (delayMs: number, callback: () => void): Disposable => {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0) / speed, longestTimeoutMs));
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  };
  return {
    now: () => startedAt + (performance.now() - startedMonotonic) * speed,
    setTimeout: setClockTimeout,
    sleep: (delayMs, signal) => sleepOn(setClockTimeout, delayMs, signal),
  };
}

export const systemClock: Clock = createClock();

/** The sleep of a clock, made of its timers. */
export function sleepOn(
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

/** Time as an argument: a fleet may run faster than the wall clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls once after the delay, unless disposed before. Does not keep the process alive. */
  setTimeout(delayMs: number, callback: () => void): Disposable;
  /** Resolves after the delay; rejects with the signal's reason when it is aborted first. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export const wallClock: Clock = clockOfSpeed(1);

/** A clock that runs faster than the wall clock by a factor, from now on. */
export function clockOfSpeed(speed: number): Clock {
  const startedAt = Date.now();
  const startedMonotonic = performance.now();
  const setClockTimeout = (delayMs: number, callback: () => void): Disposable => {
    const timer = setTimeout(callback, delayMs / speed);
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  };
  return {
    now: () => startedAt + (performance.now() - startedMonotonic) * speed,
    setTimeout: setClockTimeout,
    sleep: (delayMs, signal) => sleepWith(setClockTimeout, delayMs, signal),
  };
}

function sleepWith(setClockTimeout: Clock['setTimeout'], delayMs: number, signal: AbortSignal | undefined) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal?.aborted === true) {
    reject(reasonOf(signal));
    return promise;
  }
  const timer = setClockTimeout(delayMs, resolve);
  const onAbort = () => {
    timer[Symbol.dispose]();
    reject(signal === undefined ? undefined : reasonOf(signal));
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  return promise.finally(() => signal?.removeEventListener('abort', onAbort));
}

const reasonOf = ({ reason }: AbortSignal): Error => (reason instanceof Error ? reason : new Error('aborted'));

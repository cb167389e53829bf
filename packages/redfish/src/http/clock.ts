/** The same shape as the clock of `@metal/kube`, declared here because this package imports no other. */
export interface Clock {
  /** Milliseconds since the Unix epoch. Monotonic, without steps: durations are differences of it. */
  now(): number;
  /** Calls `callback` once after the delay, unless disposed before. Does not keep the process alive. */
  setTimeout(delayMs: number, callback: () => void): Disposable;
  /** Resolves after the delay; rejects with the signal's reason when it is aborted first. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

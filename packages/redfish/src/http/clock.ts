/** Time as an argument. The same shape as the runtime's clock, declared here because this room imports nothing of ours. */
export interface Clock {
  /** Milliseconds since the Unix epoch. Never goes back and never leaps: durations are differences of it. */
  now(): number;
  /** Calls `callback` once after the delay, unless disposed before. Does not keep the process alive. */
  setTimeout(delayMs: number, callback: () => void): Disposable;
  /** Resolves after the delay; rejects with the signal's reason when it is aborted first. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

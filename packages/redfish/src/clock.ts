/** Time as an argument. */
export interface Clock {
  now(): number;
  setTimeout(delayMs: number, callback: () => void): Disposable;
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Clock, log and programs of the probe. The clock and the logger of the operator have the same shape. */
export interface ProbeClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Rejects with the signal's reason when it is aborted first. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export interface ProbeLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Runs a program and resolves with its output. Rejects when it cannot be started, fails, or the signal is aborted. */
export type RunProgram = (program: string, parameters: readonly string[], signal: AbortSignal) => Promise<string>;

export const discardLog: ProbeLog = { info: () => {}, warn: () => {} };

import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ProbeClock, RunProgram } from './environment.ts';

const deadlineMs = 10_000;

/** Runs a program for at most ten seconds. */
export const runProgram: RunProgram = async (program, parameters, signal) => {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  const { stdout } = await promisify(execFile)(program, [...parameters], { signal: limit, maxBuffer: 16 * 1_048_576 });
  return stdout;
};

/** The clock of the machine. */
export const machineClock: ProbeClock = {
  now: Date.now,
  sleep: (delayMs, signal) => sleep(delayMs, undefined, signal === undefined ? {} : { signal }),
};

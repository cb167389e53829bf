import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import { ProbeError } from './errors.ts';
import { register } from './register.ts';
import { type ProbeClock, type ProbeLog, discardLog } from './environment.ts';

export interface ProbeOptions {
  registryUrl: string;
  systemUUID: string;
  /** Token of this boot; omitted for registries that require none. */
  token?: string | undefined;
  /** The report, or a function that makes it. Called once; the same bytes are sent until they are accepted. */
  report: ProbeReport | ((signal: AbortSignal) => Promise<ProbeReport>);
  clock: ProbeClock;
  signal: AbortSignal;
  /** Between 0 and 1; jitter for machines that are powered on at the same time. */
  random?: (() => number) | undefined;
  log?: ProbeLog | undefined;
  /** Time limit. Default: none, only the signal ends the attempts. */
  timeoutMs?: number | undefined;
  /** First pause between attempts; doubled after each attempt, up to one minute. */
  retryDelayMs?: number | undefined;
  /** Deadline of one HTTP attempt, in wall-clock time. */
  attemptTimeoutMs?: number | undefined;
  /** Has the trust settings; `fetchTrusting` makes one for a private CA. */
  fetch?: typeof globalThis.fetch | undefined;
}

export interface Accepted {
  /** 201: stored. 200: the same report was stored before. */
  readonly status: number;
  readonly attempts: number;
}

const maxPauseMs = 60_000;

/**
 * Reports a machine to the registry and resolves when the report is accepted. Failures are retried with growing, jittered
 * pauses until an answer is final.
 * @throws ProbeError when an answer is final or the time limit is reached; the signal's reason when aborted.
 */
export async function runProbe(options: ProbeOptions): Promise<Accepted> {
  const { clock, signal, report } = options;
  const startedAt = clock.now();
  const data = typeof report === 'function' ? await report(signal) : report;
  const body = JSON.stringify({ systemUUID: options.systemUUID.toLowerCase(), data });
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryOnce(options, body);
    if (typeof outcome === 'number') return { status: outcome, attempts: attempt };
    if (outcome.retry === 'blocked') throw outcome;
    const pauseMs = pauseAfter(attempt, options);
    if (clock.now() + pauseMs - startedAt > (options.timeoutMs ?? Infinity)) throw deadlinePassed(outcome, attempt);
    (options.log ?? discardLog).warn(
      { code: outcome.code, attempt, pauseMs: Math.round(pauseMs) },
      `report not accepted, retrying: ${outcome.message}`,
    );
    await clock.sleep(pauseMs, signal);
  }
}

async function tryOnce(options: ProbeOptions, body: string): Promise<number | ProbeError> {
  const { registryUrl, token, attemptTimeoutMs = 5_000, fetch = globalThis.fetch, signal } = options;
  signal.throwIfAborted();
  try {
    return await register({ registryUrl, body, token, attemptTimeoutMs, fetch, signal });
  } catch (error) {
    if (error instanceof ProbeError) return error;
    throw error;
  }
}

/** Between half and all of the doubled pause, so that machines that failed together do not retry together. */
function pauseAfter(attempt: number, { retryDelayMs = 1_000, random = Math.random }: ProbeOptions): number {
  const fullMs = Math.min(retryDelayMs * 2 ** (attempt - 1), maxPauseMs);
  return fullMs * (0.5 + random() / 2);
}

const deadlinePassed = (cause: ProbeError, attempts: number): ProbeError =>
  new ProbeError({
    code: 'DeadlinePassed',
    retry: 'later',
    message: `gave up after ${attempts} attempts; last error: ${cause.message}`,
    cause,
  });

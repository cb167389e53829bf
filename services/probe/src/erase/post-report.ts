import { ProbeError } from '../errors.ts';
import type { ProbeClock, ProbeLog } from '../environment.ts';
import { reasonOf } from './device.ts';

export interface Registry {
  /** Route of the reports, below the URL. */
  readonly route: 'erasures' | 'deployments';
  /** The order, for messages. */
  readonly order: string;
  /** Base URL of the registry. */
  readonly registryUrl: string;
  readonly token: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly attemptTimeoutMs: number;
  readonly clock: ProbeClock;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly log: ProbeLog;
}

/** Transient client errors. Every other 4xx answer is final for this report. */
const retryableStatuses: readonly number[] = [408, 425, 429];

/**
 * One attempt to send a report.
 * @throws ProbeError: `ErasureRefused` or `DeploymentRefused` if the registry rejects it, `RegistryUnreachable` or `RegistryUnready` if a retry may
 * succeed; the signal's reason when aborted.
 */
export async function postReport(report: object, registry: Registry, signal: AbortSignal): Promise<void> {
  const response = await send(report, registry, signal);
  const text = (await response.text().catch(() => '')).slice(0, 300).trim();
  if (response.ok) return;
  const answer = text === '' ? `HTTP ${response.status}` : `HTTP ${response.status}: ${text}`;
  const { status } = response;
  if (status < 400 || status >= 500 || retryableStatuses.includes(status))
    throw new ProbeError({
      code: 'RegistryUnready',
      retry: 'later',
      status,
      message: `the registry answered ${answer}`,
    });
  throw new ProbeError({
    code: registry.route === 'erasures' ? 'ErasureRefused' : 'DeploymentRefused',
    retry: 'blocked',
    status,
    message: `the registry rejects the report of ${registry.order}: ${answer}; the order is no longer valid`,
  });
}

async function send(report: object, registry: Registry, signal: AbortSignal): Promise<Response> {
  const url = `${registry.registryUrl.replace(/\/+$/, '')}/${registry.route}`;
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (registry.token !== undefined) headers.authorization = `Bearer ${registry.token}`;
  try {
    return await registry.fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(report),
      signal: AbortSignal.any([signal, AbortSignal.timeout(registry.attemptTimeoutMs)]),
      redirect: 'error',
    });
  } catch (cause) {
    signal.throwIfAborted();
    const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    throw new ProbeError({
      code: 'RegistryUnreachable',
      retry: 'later',
      message: `no answer from ${url}: ${reasonOf(inner)}`,
      cause,
    });
  }
}

const firstPauseMs = 1_000;
const maxPauseMs = 60_000;

/** Retries with growing, jittered pauses until the report is acknowledged. @throws the final errors of `postReport`. */
export async function postUntilAcknowledged(report: object, registry: Registry, signal: AbortSignal): Promise<void> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await postReport(report, registry, signal);
    } catch (error) {
      if (!(error instanceof ProbeError) || error.retry === 'blocked') throw error;
      registry.log.warn({ code: error.code }, `report not acknowledged, retrying: ${error.message}`);
      await registry.clock.sleep(pauseMs * (0.5 + registry.random() / 2), signal);
    }
  }
}

/** Minimum interval between two reports. */
const minReportIntervalMs = 2_500;
/** Report interval without changes. */
const heartbeatIntervalMs = 5_000;

/** The last report, repeated until it is acknowledged. */
export async function postEnd<Report extends { readonly state: string }>(
  end: Report,
  registry: Registry,
  signal: AbortSignal,
): Promise<Report> {
  await postUntilAcknowledged(end, registry, signal);
  registry.log.info({ state: end.state }, `the registry acknowledged the final report: ${end.state}`);
  return end;
}

export interface Progress<Report extends object> {
  readonly report: () => Report;
  /** Causes a report when it changes. */
  readonly changesIn: (report: Report) => string;
}

/**
 * Reports the progress of the work until it has ended. A rejected report aborts the signal of the work: the machine may have a
 * new claim.
 * @throws ProbeError as `postReport`, if a report is rejected; the error of the work; the signal's reason
 */
export async function reportWhile<Report extends object>(
  progress: Progress<Report>,
  { registry, signal }: { readonly registry: Registry; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const rejected = new AbortController();
  const done = new AbortController();
  const whileValid = AbortSignal.any([signal, rejected.signal]);
  const posting = keepPosting(progress, registry, AbortSignal.any([whileValid, done.signal])).catch((error: unknown) =>
    rejected.abort(error),
  );
  try {
    await work(whileValid);
  } finally {
    done.abort();
    await posting;
  }
  whileValid.throwIfAborted();
}

/**
 * Reports until the signal is aborted, at changes and every few seconds. A lost report is not retried; the next one replaces it.
 * @throws ProbeError as `postReport`, if a report is rejected
 */
async function keepPosting<Report extends object>(
  { report, changesIn }: Progress<Report>,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  let [reported, reportedAt] = [changesIn(report()), registry.clock.now()];
  while (await sleepUnlessAborted(registry.clock, signal)) {
    const changes = changesIn(report());
    if (changes === reported && registry.clock.now() - reportedAt < heartbeatIntervalMs) continue;
    [reported, reportedAt] = [changes, registry.clock.now()];
    try {
      await postReport(report(), registry, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ProbeError) || error.retry === 'blocked') throw error;
      registry.log.warn({ code: error.code }, error.message);
    }
  }
}

async function sleepUnlessAborted(clock: ProbeClock, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(minReportIntervalMs, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return !signal.aborted;
}

import type { ErasureReportBody } from '@metal/api/wire/erasure.ts';
import { ProbeError } from '../errors.ts';
import type { ProbeClock, ProbeLog } from '../environment.ts';
import { reasonOf } from './device.ts';

export interface Registry {
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

/** Refusals that may be over in a moment. Every other answer of 4xx is about this report, and stays. */
const retryableStatuses: readonly number[] = [408, 425, 429];

/**
 * One attempt to hand in a report.
 * @throws ProbeError: `ErasureRefused` when the registry does not want it, `RegistryUnreachable` or `RegistryUnready`
 * when it may in a moment; the signal's reason when aborted.
 */
export async function postReport(report: ErasureReportBody, registry: Registry, signal: AbortSignal): Promise<void> {
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
    code: 'ErasureRefused',
    retry: 'blocked',
    status,
    message: `the registry refuses what is reported of attempt ${report.attempt}: ${answer}; it is no longer ordered`,
  });
}

async function send(report: ErasureReportBody, registry: Registry, signal: AbortSignal): Promise<Response> {
  const url = `${registry.registryUrl.replace(/\/+$/, '')}/erasures`;
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

/** Tries with growing, jittered pauses until the report is acknowledged. @throws as `postReport`, but only what stays. */
export async function postUntilAcknowledged(
  report: ErasureReportBody,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await postReport(report, registry, signal);
    } catch (error) {
      if (!(error instanceof ProbeError) || error.retry === 'blocked') throw error;
      registry.log.warn({ code: error.code }, `not acknowledged yet: ${error.message}`);
      await registry.clock.sleep(pauseMs * (0.5 + registry.random() / 2), signal);
    }
  }
}

/** Between two reports there is at least this long, however much happens. */
const minReportIntervalMs = 2_500;
/** How often somebody hears that we live, even if nothing happens. */
const heartbeatIntervalMs = 5_000;

/**
 * Reports how far it is until the signal is aborted, at changes and every few seconds. A report that gets lost is made up
 * for by the next.
 * @throws ProbeError `ErasureRefused`
 */
export async function keepPosting(
  report: () => ErasureReportBody,
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

/** What is worth a report of its own; bytes that were erased meanwhile are not. */
const changesIn = ({ disks }: ErasureReportBody): string =>
  JSON.stringify(disks.map(({ name, method, result, message }) => [name, method, result, message]));

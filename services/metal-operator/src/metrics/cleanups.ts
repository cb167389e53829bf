import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { Counter, Histogram, type Registry } from 'prom-client';
import { fromSecondsToDays } from './durations.ts';
import type { Cache, Change } from '@metal/kube/cache/store.ts';
import { samplesOfEach, ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';

export interface CleanupSources {
  readonly servers: Cache<Server>;
  readonly erasures: Cache<ErasureReport>;
  readonly clock: Clock;
}

const results = ['Succeeded', 'Failed', 'Silent', 'Waived'] as const;
type Result = (typeof results)[number];

/** Who is not clean, and what comes of cleaning up; ends are told from changes, so nothing is counted twice. */
export function exportCleanups(registry: Registry, { servers, erasures, clock }: CleanupSources): Disposable {
  const startedAt = clock.now();
  exportStates(registry, servers, erasures);
  const attempts = new Counter({
    name: 'metal_cleanup_attempts_total',
    help: 'Attempts to clean up a server, by what came of them',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of results) attempts.inc({ result }, 0);
  const durations = new Histogram({
    name: 'metal_cleanup_duration_seconds',
    help: 'Time from when the limits let a server in until it was offered again',
    buckets: fromSecondsToDays,
    registers: [registry],
  });
  const stack = new DisposableStack();
  stack.use(
    erasures.onChange((change) => {
      const result = endOf(change, startedAt);
      if (result !== undefined) attempts.inc({ result });
    }),
  );
  stack.use(
    servers.onChange((change) => {
      if (isGivenUp(change, erasures)) attempts.inc({ result: 'Silent' });
      const seconds = secondsOf(change);
      if (seconds !== undefined) durations.observe(seconds);
    }),
  );
  return stack;
}

function exportStates(registry: Registry, servers: Cache<Server>, erasures: Cache<ErasureReport>): void {
  void new ScrapedMetric({
    registry,
    name: 'metal_cleanups',
    help: 'Servers that are being cleaned up, and servers that wait for that',
    read: () => {
      const counts = { queued: 0, running: 0 };
      for (const { status } of servers.all()) {
        if (status?.state !== 'Cleanup') continue;
        if (status.cleanup?.queuedSince !== undefined) counts.queued += 1;
        if (status.cleanup?.attempt !== undefined) counts.running += 1;
      }
      return Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }));
    },
  });
  void new ScrapedMetric({
    registry,
    name: 'metal_erasure_reports',
    help: 'ErasureReports that there are; they are kept until people delete them',
    read: () => [{ labels: {}, value: erasures.size }],
  });
  void new ScrapedMetric({
    registry,
    name: 'metal_server_cleanup_needed',
    help: '1 for every server that no claim holds, and that may hold what one left',
    read: () =>
      samplesOfEach(servers.all(), ({ metadata, spec, status }) =>
        status?.cleanup?.neededSince === undefined || spec.serverClaimRef !== undefined
          ? []
          : [{ labels: { server: metadata.name }, value: 1 }],
      ),
  });
}

/** An end that came since, be it the first word of its report; a list also brings what ended before. */
function endOf({ before, after }: Change<ErasureReport>, startedAt: number): Result | undefined {
  const end = endIn(after);
  if (end === undefined || end === endIn(before)) return undefined;
  return before !== undefined || Date.parse(after?.spec.receivedTime ?? '') >= startedAt ? end : undefined;
}

/** What its machine calls a success counts when the operator has certified it. What was withdrawn did not fail. */
function endIn(report: ErasureReport | undefined): Result | undefined {
  const state = report?.spec.state;
  if (state === 'Succeeded') return report?.status?.certificate === undefined ? undefined : state;
  return state === 'Running' || report?.spec.withdrawn !== undefined ? undefined : state;
}

/** An attempt that is lost without a report that says so. */
function isGivenUp({ before, after }: Change<Server>, erasures: Cache<ErasureReport>): boolean {
  const attempt = before?.status?.cleanup?.attempt;
  const failed = (after?.status?.cleanup?.failedAttempts ?? 0) > (before?.status?.cleanup?.failedAttempts ?? 0);
  const isLast = after?.status?.state === 'Error' && after.status.failure?.reason === 'CleanupFailed';
  if (attempt === undefined || before?.status?.state !== 'Cleanup' || !(failed || isLast)) return false;
  const since = Date.parse(before.status.cleanup?.startedTime ?? '');
  return !erasures
    .by('server', before.metadata.uid ?? '')
    .some(({ spec }) => spec.attempt === attempt && spec.state === 'Failed' && Date.parse(spec.receivedTime) >= since);
}

function secondsOf({ before, after }: Change<Server>): number | undefined {
  if (before?.status?.state !== 'Cleanup' || after?.status?.state !== 'Available') return undefined;
  if (before.status.cleanup?.attempt === undefined) return undefined;
  const { stateSince, cleanup } = after.status;
  const seconds = (Date.parse(stateSince ?? '') - Date.parse(cleanup?.startedTime ?? '')) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

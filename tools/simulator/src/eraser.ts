import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { DiskErasure, ErasureOrder, ErasureReportBody } from '@metal/api/wire/erasure.ts';
import type { Clock } from './clock.ts';

/** Faults of the erasure of a machine's disks. */
export type EraserFault =
  /** The first disk cannot be erased. */
  | 'fails'
  /** It starts and sends no further report. */
  | 'hangs'
  /** There is a disk that is not in the order. */
  | 'extraDisk'
  /** The first disk erases itself, and continues when the agent is stopped. */
  | 'sanitizes';

export interface EraserEnvironment {
  readonly registryUrl: string;
  readonly token: string | undefined;
  readonly systemUUID: string;
  readonly storage: ProbeReport['storage'];
  readonly durationMs: number;
  /** The disks are empty. */
  readonly erased: () => void;
  readonly fault: EraserFault | undefined;
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
  readonly log: (line: string) => void;
}

const retryAfterMs = 1_000;
/** The interval of the agent. */
const reportIntervalMs = 5_000;

/**
 * Erases as the agent does, as far as visible from outside: compares the disks with the order, reports the start, the progress,
 * and the end until that is acknowledged. When a report is rejected it stops, and tries to report how far it got.
 */
export async function eraseDisks(order: ErasureOrder, env: EraserEnvironment, signal: AbortSignal): Promise<void> {
  const { clock, fault, log } = env;
  if (order.mode === 'None') {
    await sendReport({ state: 'Succeeded', message: '', disks: [] }, order, env, signal);
    log('eraser: started, nothing to erase');
    return;
  }
  const mismatch = diskMismatch(order, env);
  if (mismatch !== undefined) {
    await sendReport({ state: 'Failed', message: `nothing was erased: ${mismatch}`, disks: [] }, order, env, signal);
    return;
  }
  if (!(await sendReport({ state: 'Running', message: '', disks: disksOf(order, 'Running') }, order, env, signal)))
    return;
  log('eraser: began');
  if (fault === 'hangs') await clock.sleep(10 ** 9, signal);
  const leftMs = await eraseUntilRefused(order, env, signal);
  if (leftMs > 0) return stop(order, env, { leftMs, signal });
  const failed = fault === 'fails';
  const end = failed
    ? { state: 'Failed', message: '1 disk is not erased', disks: disksOf(order, 'Failed') }
    : { state: 'Succeeded', message: '', disks: disksOf(order, 'Erased') };
  // The disks are empty from here on, also when the report is lost.
  if (!failed) env.erased();
  await sendReport(end as EraserReport, order, env, signal); // one of the two above
  log(`eraser: ${end.state}`);
}

/** The remaining time when a report is rejected; 0 when the erasure is complete. */
async function eraseUntilRefused(order: ErasureOrder, env: EraserEnvironment, signal: AbortSignal): Promise<number> {
  const running = { state: 'Running', message: '', disks: runningDisksOf(order, env) } as const;
  let leftMs = env.durationMs;
  while (leftMs > reportIntervalMs) {
    await env.clock.sleep(reportIntervalMs, signal);
    leftMs -= reportIntervalMs;
    if (!(await sendReport(running, order, env, signal))) return leftMs;
  }
  await env.clock.sleep(leftMs, signal);
  return 0;
}

async function stop(
  order: ErasureOrder,
  env: EraserEnvironment,
  { leftMs, signal }: { leftMs: number; signal: AbortSignal },
): Promise<void> {
  env.log('eraser: stopped');
  const disks = runningDisksOf(order, env).map(
    (disk, index): DiskErasure => (index > 0 ? disk : { ...disk, result: 'Failed', message: 'stopped before its end' }),
  );
  await sendReport({ state: 'Failed', message: 'stopped, as the order was withdrawn', disks }, order, env, signal);
  if (env.fault !== 'sanitizes') return;
  await env.clock.sleep(leftMs, signal);
  env.erased();
}

/** One after the other: the first is being erased, the others are untouched. */
const runningDisksOf = (order: ErasureOrder, { fault }: EraserEnvironment): DiskErasure[] =>
  disksOf(order, 'Running').map(({ method, ...disk }, index) => {
    if (index > 0) return { ...disk, result: 'Pending' };
    if (fault === 'sanitizes') return { ...disk, method, continuesByItself: true };
    return { ...disk, method: 'Overwrite', erasedBytes: Math.floor(disk.sizeBytes / 2) };
  });

type EraserReport = Pick<ErasureReportBody, 'state' | 'message' | 'disks'>;

function diskMismatch(order: ErasureOrder, { storage, fault }: EraserEnvironment): string | undefined {
  if (fault === 'extraDisk') return 'disk serial EXTRA is there and not in the order';
  const present = storage.filter(({ removable, readOnly }) => !removable && !readOnly);
  const serials = new Set(order.disks.map(({ serial }) => serial));
  const extra = present.find(({ serial }) => !serials.has(serial));
  if (extra !== undefined) return `disk serial ${extra.serial} is there and not in the order`;
  const missing = order.disks.find(({ serial }) => !present.some((disk) => disk.serial === serial));
  return missing === undefined ? undefined : `disk serial ${missing.serial} of the order is not there`;
}

const disksOf = (order: ErasureOrder, result: DiskErasure['result']): DiskErasure[] =>
  order.disks.map((disk, index) => ({
    ...disk,
    name: `nvme${index}n1`,
    method: 'NVMeSanitizeCrypto',
    erasedBytes: result === 'Erased' ? disk.sizeBytes : 0,
    samples: result === 'Erased' ? 64 : 0,
    verified: result === 'Erased',
    result: result === 'Failed' && index > 0 ? 'Erased' : result,
    message: result === 'Failed' && index === 0 ? 'sanitize failed' : '',
  }));

/** Repeats a report until it is acknowledged; false when it is rejected. */
async function sendReport(
  report: EraserReport,
  { attempt }: ErasureOrder,
  env: EraserEnvironment,
  signal: AbortSignal,
): Promise<boolean> {
  const { registryUrl, token, systemUUID, clock, fetch, log } = env;
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const body = JSON.stringify({ systemUUID, attempt, ...report });
  for (;;) {
    signal.throwIfAborted();
    const status = await fetch(`${registryUrl}/erasures`, { method: 'POST', headers, body, signal }).then(
      async (response) => {
        const text = await response.text();
        if (!response.ok) log(`eraser: refused, ${response.status} ${text}`);
        return response.status;
      },
      () => undefined,
    );
    if (status !== undefined && status < 300) return true;
    if (status !== undefined && status >= 400 && status < 500 && status !== 429) return false;
    await clock.sleep(retryAfterMs, signal);
  }
}

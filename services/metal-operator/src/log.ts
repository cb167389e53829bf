import { once } from 'node:events';
import { destination, type Logger, pino, stdTimeFunctions } from 'pino';
import { ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';
import type { LogConfig } from './options.ts';
import type { Registry } from 'prom-client';

export interface ProcessLog {
  readonly log: Logger;
  /** Lines that were dropped since the process started, because the buffer was full. */
  readonly lostLines: () => number;
  /** False when buffered lines are not written within that time. True when the reader has closed the pipe. */
  readonly isWritten: (withinMs: number) => Promise<boolean>;
}

const flushTimeoutMs = 2_000;
/** Tens of thousands of lines. */
const maxBufferedBytes = 16 * 1_048_576;

/**
 * Logs to stderr, as JSON or as one readable line each. Writes are asynchronous and batched. Buffered lines are written when
 * the process ends; a killed process loses those of its last milliseconds.
 *
 * If stderr blocks, up to 16 MiB are buffered. Further lines are dropped, and their number is logged after the buffered ones.
 */
export function createLog({ format, level }: LogConfig): ProcessLog {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const out = destination({ fd: 2, sync: false, maxLength: maxBufferedBytes });
  const log =
    format === 'json' ? pino(options, out) : pino(options, { write: (line: string) => void out.write(readable(line)) });
  let [lost, reportedLost] = [0, 0];
  out.on('drop', () => (lost += 1));
  out.on('drain', () => {
    const lines = lost - reportedLost;
    reportedLost = lost;
    if (lines > 0) log.warn({ lines }, 'lines of this log were dropped here: stderr was blocked');
  });
  let isReaderGone = false;
  out.on('error', () => (isReaderGone = true));
  const isWritten = async (withinMs: number): Promise<boolean> => {
    if (isReaderGone) return true;
    const drained = once(out, 'drain', { signal: AbortSignal.timeout(withinMs) });
    out.write(''); // Makes an empty buffer emit drain, too.
    return drained.then(
      () => true,
      () => isReaderGone,
    );
  };
  return { log, lostLines: () => lost, isWritten };
}

/**
 * Kills the process if the log cannot be written within two seconds. A normal exit waits for pending writes: on a full pipe,
 * forever.
 */
export function flushOrKill({ isWritten }: ProcessLog): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      if (await isWritten(flushTimeoutMs)) return;
      process.kill(process.pid, 'SIGKILL');
      // The first process of a container ignores its own signals, but not an abort.
      process.abort();
    },
  };
}

export function exportLostLines(registry: Registry, { lostLines }: ProcessLog): void {
  void new ScrapedMetric({
    registry,
    name: 'metal_log_lines_dropped_total',
    help: 'Log lines dropped because stderr was blocked',
    type: 'counter',
    read: () => [{ labels: {}, value: lostLines() }],
  });
}

/** `2026-01-01T00:00:00.000Z info  message key=value …` */
function readable(line: string): string {
  const { time, level, msg, ...rest } = parsed(line);
  const fields = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${String(time)} ${String(level).padEnd(5)} ${[typeof msg === 'string' ? msg : '', ...fields].join(' ').replaceAll('\n', '\\n')}\n`;
}

// pino writes one JSON object per line.
const parsed = (line: string): Record<string, unknown> => JSON.parse(line) as Record<string, unknown>;

import { once } from 'node:events';
import { destination, type Logger, pino, stdTimeFunctions } from 'pino';
import { ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';
import type { LogConfig } from './options.ts';
import type { Registry } from 'prom-client';

export interface ProcessLog {
  readonly log: Logger;
  /** How many found no room since the process began. */
  readonly lostLines: () => number;
  /** False when lines wait for that long, and nobody reads them. Where the reader has gone there is nothing to wait for. */
  readonly isWritten: (withinMs: number) => Promise<boolean>;
}

const flushTimeoutMs = 2_000;
/** Tens of thousands of lines. */
const maxBufferedBytes = 16 * 1_048_576;

/**
 * Logs to stderr, as JSON or as one readable line each. Nobody waits for a line to be written: those that come meanwhile go
 * together. What is not written yet is, when the process ends; one that is killed takes its last milliseconds along.
 *
 * While nobody reads them lines wait, up to 16 MiB. Those beyond that are lost; how many is said when the others are written.
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
    if (lines > 0) log.warn({ lines }, 'lines of this log were lost here: nobody had read it for too long');
  });
  let isReaderGone = false;
  out.on('error', () => (isReaderGone = true));
  const isWritten = async (withinMs: number): Promise<boolean> => {
    if (isReaderGone) return true;
    const drained = once(out, 'drain', { signal: AbortSignal.timeout(withinMs) });
    out.write(''); // Also where nothing waits, somebody is told that nothing does.
    return drained.then(
      () => true,
      () => isReaderGone,
    );
  };
  return { log, lostLines: () => lost, isWritten };
}

/**
 * Ends the process where nobody reads the log for two seconds. An exit waits for writes that are under way: on a pipe that is
 * full, for ever.
 */
export function flushOrKill({ isWritten }: ProcessLog): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      if (await isWritten(flushTimeoutMs)) return;
      process.kill(process.pid, 'SIGKILL');
      // The first process of a container is spared by signals of its own, but not by an abort.
      process.abort();
    },
  };
}

/** Also where nobody reads the log there is somebody who reads metrics. */
export function exportLostLines(registry: Registry, { lostLines }: ProcessLog): void {
  void new ScrapedMetric({
    registry,
    name: 'metal_log_lines_dropped_total',
    help: 'Lines of the log that were lost because nobody read it',
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

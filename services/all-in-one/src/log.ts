import { destination, type Logger, pino, stdTimeFunctions } from 'pino';
import type { OperatorConfig } from '@metal/operator/config.ts';

/**
 * Logs to stderr, as JSON or as one readable line each. Nobody waits for a line to be written: those that come meanwhile go
 * together. What is not written yet is, when the process ends; one that is killed takes its last milliseconds along.
 */
export function createLog({ format, level }: OperatorConfig['log']): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const out = destination({ fd: 2, sync: false });
  return format === 'json'
    ? pino(options, out)
    : pino(options, { write: (line: string) => void out.write(readable(line)) });
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

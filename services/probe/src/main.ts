import { keepReporting } from './keep-reporting.ts';
import { type ProbeConfig, readProbeConfig } from './options.ts';
import { machineClock, runProgram } from './run-program.ts';
import type { ProbeLog } from './environment.ts';

const logAt = (level: string) => (fields: object, message: string) =>
  process.stderr.write(`${JSON.stringify({ level, time: new Date().toISOString(), message, ...fields })}\n`);
const log: ProbeLog = { info: logAt('info'), warn: logAt('warn') };

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));

function configOrExit(): ProbeConfig {
  try {
    return readProbeConfig(process.argv.slice(2));
  } catch (error) {
    logAt('error')({}, error instanceof Error ? error.message : String(error));
    process.exit(2);
  }
}

try {
  await keepReporting(configOrExit(), { clock: machineClock, log, run: runProgram, signal: stop.signal });
} catch (error) {
  if (!stop.signal.aborted) {
    logAt('error')(
      error instanceof Error && 'code' in error ? { code: error.code } : {},
      error instanceof Error ? error.message : String(error),
    );
    process.exitCode = 1;
  }
}

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type ProbeReport, probeReport } from '@metal/api/wire/probe-report.ts';
import { collect } from './collect.ts';
import { fetchTrusting } from './fetch-trusting.ts';
import { type ProbeConfig, readProbeConfig } from './options.ts';
import { runProbe } from './run-probe.ts';
import type { ProbeClock, ProbeLog, RunProgram } from './surroundings.ts';

/** How often registries that keep reports in memory want to hear from us. Registries with tokens take one report. */
const refreshIntervalMs = 30_000;

const clock: ProbeClock = {
  now: Date.now,
  sleep: (delayMs, signal) => sleep(delayMs, undefined, signal === undefined ? {} : { signal }),
};

const say = (level: string) => (fields: object, message: string) =>
  process.stderr.write(`${JSON.stringify({ level, time: new Date().toISOString(), message, ...fields })}\n`);
const log: ProbeLog = { info: say('info'), warn: say('warn') };

const run: RunProgram = async (program, parameters, signal) => {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
  const { stdout } = await promisify(execFile)(program, [...parameters], { signal: limit, maxBuffer: 16 * 1_048_576 });
  return stdout;
};

async function main(config: ProbeConfig, signal: AbortSignal): Promise<void> {
  const fetch = config.caPem === undefined ? undefined : fetchTrusting(config.caPem);
  for (;;) {
    const { status, attempts } = await runProbe({
      ...config,
      report: (stop) => reportOf(config, stop),
      clock,
      signal,
      log,
      fetch,
    });
    log.info({ status, attempts, systemUUID: config.systemUUID }, 'the registry has the report');
    if (config.once) return;
    await clock.sleep(config.token === undefined ? refreshIntervalMs : 2 ** 31 - 1, signal);
  }
}

async function reportOf({ descriptionFile, lldp }: ProbeConfig, signal: AbortSignal): Promise<ProbeReport> {
  if (descriptionFile === undefined) return collect({ clock, signal, log, run, lldp });
  const description = probeReport.parse(JSON.parse(await readFile(descriptionFile, 'utf8')));
  return { ...description, timestamp: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z') };
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));

function configOrExit(): ProbeConfig {
  try {
    return readProbeConfig(process.argv.slice(2));
  } catch (error) {
    say('error')({}, error instanceof Error ? error.message : String(error));
    process.exit(2);
  }
}

try {
  await main(configOrExit(), stop.signal);
} catch (error) {
  if (!stop.signal.aborted) {
    say('error')(
      error instanceof Error && 'code' in error ? { code: error.code } : {},
      error instanceof Error ? error.message : String(error),
    );
    process.exitCode = 1;
  }
}

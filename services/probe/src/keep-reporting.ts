import { readFile } from 'node:fs/promises';
import { type ProbeReport, probeReport } from '@metal/api/wire/probe-report.ts';
import { collect } from './collect.ts';
import { fetchTrusting } from './fetch-trusting.ts';
import type { ProbeConfig } from './options.ts';
import { runProbe } from './run-probe.ts';
import type { ProbeClock, ProbeLog, RunProgram } from './environment.ts';

export interface ProbeEnvironment {
  clock: ProbeClock;
  log: ProbeLog;
  run: RunProgram;
  signal: AbortSignal;
}

/** Report interval for registries that keep reports in memory. Registries with tokens accept one report. */
const refreshIntervalMs = 30_000;
const idleMs = 2 ** 31 - 1;

/**
 * Reports the hardware: once, or until the signal is aborted, according to the options.
 * @throws ProbeError when an answer is final; the signal's reason when aborted.
 */
export async function keepReporting(config: ProbeConfig, environment: ProbeEnvironment): Promise<void> {
  const { clock, log, signal } = environment;
  const fetch = config.caPem === undefined ? undefined : fetchTrusting(config.caPem);
  for (;;) {
    const { status, attempts } = await runProbe({
      ...config,
      report: () => reportOf(config, environment),
      clock,
      signal,
      log,
      fetch,
    });
    log.info({ status, attempts, systemUUID: config.systemUUID }, 'the registry accepted the report');
    if (config.once) return;
    await clock.sleep(config.token === undefined ? refreshIntervalMs : idleMs, signal);
  }
}

async function reportOf({ descriptionFile, lldp }: ProbeConfig, environment: ProbeEnvironment): Promise<ProbeReport> {
  if (descriptionFile === undefined) return collect({ ...environment, lldp });
  const description = probeReport.parse(JSON.parse(await readFile(descriptionFile, 'utf8')));
  return { ...description, timestamp: new Date(environment.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z') };
}

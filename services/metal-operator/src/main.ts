import { randomUUID } from 'node:crypto';
import { flushCompileCache } from 'node:module';
import { hostname } from 'node:os';
import { readConfig } from './command-line.ts';
import { collectDefaultMetrics } from 'prom-client';
import { createLog, exportLostLines, flushOrKill, type ProcessLog } from './log.ts';
import type { MetalOperatorConfig } from './options.ts';
import { checkConfiguredFiles } from './configured-files.ts';
import { apiServerCheck } from './api-server-check.ts';
import { startEndpoints } from './endpoints.ts';
import { metricsGuardOf } from './metrics/guard.ts';
import { prepareMetalOperator } from './metal-operator.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { build, exportBuild } from './version.ts';
import { OperatorError } from '@metal/kube/errors.ts';

/**
 * Exit codes: 0 stopped as requested, 1 invalid configuration or a failure that a restart may fix. A process that cannot write
 * its last log lines kills itself at the end: exit code 137 in a shell, 139 as the first process of a container.
 */
async function main(): Promise<void> {
  // Node does this at exit, which a killed process does not reach.
  flushCompileCache();
  const config = readConfig(process.argv.slice(2), process.env);
  const warnings = await checkConfiguredFiles(config);
  const processLog = createLog(config.log);
  const { log } = processLog;
  await using _lastLines = flushOrKill(processLog);
  logConfiguration(log, config, warnings);
  const stopRequested = new Promise<string>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  using _keepAlive = keepProcessAlive();
  const identity = `${hostname()}_${randomUUID()}`;
  const prepared = await prepareMetalOperator({ config, clock: systemClock, random: Math.random, log, identity });
  const { metrics, client } = prepared;
  collectDefaultMetrics({ register: metrics });
  exportBuild(metrics);
  exportLostLines(metrics, processLog);
  let isStopping = false;
  // The initial lists of a large fleet take seconds; health and metrics are served before.
  await using _endpoints = await startEndpoints(config, metrics, {
    guard: metricsGuardOf(client, systemClock),
    readinessCheck: async () => (isStopping ? 'it is stopping' : (prepared.notReadyReason ?? apiServerCheck(client)())),
    readinessNote: () => `${describeKindNote(prepared.kindNote)}${describeOthers(prepared.otherOperators())}`,
    clock: systemClock,
    log,
  });
  log.info({ health: config.healthAddress, metrics: config.metrics.address }, 'starting');
  await using operator = await Promise.race([prepared.start(), stopRequested.then(() => undefined)]);
  if (operator === undefined) return log.info('stopping before the start was complete');
  const { registryUrl, bootUrl, metadataUrl, eventUrl } = operator;
  log.info({ components: [...config.components], registryUrl, bootUrl, metadataUrl, eventUrl, identity }, 'running');
  const reason = await Promise.race([stopRequested, operator.stopped.then(() => 'stopped')]);
  isStopping = true;
  log.info({ reason }, 'stopping: running reconciles finish first');
}

function logConfiguration(log: ProcessLog['log'], { withoutEffect }: MetalOperatorConfig, warnings: string[]): void {
  log.info({ ...build }, 'metal-operator');
  for (const name of withoutEffect) log.warn({ option: `--${name}` }, 'accepted, but without effect in this version');
  for (const reason of warnings) log.warn({ reason }, 'part of the configuration has no effect');
}

const describeKindNote = (note: string | undefined): string => (note === undefined ? '' : `, but ${note}`);

const describeOthers = (others: readonly string[]): string =>
  others.length === 0 ? '' : `, but another operator works on the same objects: ${others.join(', ')}`;

/**
 * Timers of clocks and idle connections are unreferenced. Without this one, a process that has no listener and waits for an
 * unavailable API server would exit without an error.
 */
function keepProcessAlive(): Disposable {
  const timer = setInterval(() => undefined, maxIntervalMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

const maxIntervalMs = 2 ** 31 - 1;

function formatError(error: unknown): string {
  if (error instanceof OperatorError) return `metal-operator: ${error.message}`;
  return `metal-operator: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${formatError(error)}\n`);
    process.exit(1);
  },
);

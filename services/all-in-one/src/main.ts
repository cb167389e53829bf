import { randomUUID } from 'node:crypto';
import { flushCompileCache } from 'node:module';
import { hostname } from 'node:os';
import { readConfig } from '@metal/operator/config.ts';
import { collectDefaultMetrics } from 'prom-client';
import { createLog, exportLostLines, untilWritten } from './log.ts';
import { apiServerObstacle } from './api-server-obstacle.ts';
import { startEndpoints } from './endpoints.ts';
import { metricsGuardOf } from './metrics/guard.ts';
import { prepareSystem } from './system.ts';
import { systemClock } from '@metal/kube/clock.ts';
import { OperatorError } from '@metal/kube/errors.ts';

/**
 * Exit codes: 0 stopped as asked, 1 bad configuration or a failure that a restart may cure. A process whose log nobody reads
 * kills itself when everything else is over: 137 where a shell tells it, 139 where it is the first process of a container.
 */
async function main(): Promise<void> {
  // Node would do it at the end, to which a process that is killed does not come.
  flushCompileCache();
  const config = readConfig(process.argv.slice(2), process.env);
  const processLog = createLog(config.log);
  const { log } = processLog;
  await using _lastLines = untilWritten(processLog);
  for (const name of config.withoutEffect)
    log.warn({ option: `--${name}` }, 'accepted, but without effect in this version');
  const stopAsked = new Promise<string>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  using _alive = untilTheEnd();
  const identity = `${hostname()}_${randomUUID()}`;
  const prepared = prepareSystem({ config, clock: systemClock, random: Math.random, log, identity });
  const { metrics, client } = prepared;
  collectDefaultMetrics({ register: metrics });
  exportLostLines(metrics, processLog);
  let isStopping = false;
  // A fleet of thousands takes seconds to be known: who waits for it, or watches over it, need not wait with it.
  await using _endpoints = await startEndpoints(config, metrics, {
    guard: metricsGuardOf(client),
    obstacle: async () => (isStopping ? 'it is stopping' : (prepared.obstacle ?? apiServerObstacle(client)())),
    clock: systemClock,
    log,
  });
  log.info({ health: config.healthAddress, metrics: config.metrics.address }, 'starting');
  await using system = await Promise.race([prepared.start(), stopAsked.then(() => undefined)]);
  if (system === undefined) return log.info('stopping before everything was there');
  const { registryUrl, bootUrl, metadataUrl, eventUrl } = system;
  log.info({ components: [...config.components], registryUrl, bootUrl, metadataUrl, eventUrl, identity }, 'running');
  const reason = await Promise.race([stopAsked, system.stopped.then(() => 'stopped')]);
  isStopping = true;
  log.info({ reason }, 'stopping: running turns finish first');
}

/**
 * Clocks and idle connections keep no process alive. While it waits for an API server that is away, and is told to listen
 * nowhere, there would be nothing left to wait for, and it would end without a word.
 */
function untilTheEnd(): Disposable {
  const timer = setInterval(() => undefined, longestIntervalMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

const longestIntervalMs = 2 ** 31 - 1;

function explain(error: unknown): string {
  if (error instanceof OperatorError) return `metal-operator: ${error.message}`;
  return `metal-operator: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  },
);

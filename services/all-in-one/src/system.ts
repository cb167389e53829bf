import { BmcAccess } from '@metal/operator/bmc-access.ts';
import { bootTokenKeyFrom } from '@metal/operator/boot-token-key.ts';
import { watchOperatorKinds } from '@metal/operator/caches.ts';
import type { Component, OperatorConfig } from '@metal/operator/config.ts';
import type { OperatorCaches, OperatorContext } from '@metal/operator/context.ts';
import { controllers } from '@metal/operator/controllers.ts';
import { discoveryIgnitionOf } from '@metal/operator/discovery-ignition.ts';
import { dnsRecordsOf } from '@metal/operator/dns-records.ts';
import { readMacPrefixes } from '@metal/operator/mac-prefixes.ts';
import { ClaimScheduler } from '@metal/operator/scheduler.ts';
import { startBoot } from '@metal/boot/boot.ts';
import { CacheSet } from '@metal/kube/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { runManager } from '@metal/kube/manager.ts';
import { startRegistry } from '@metal/registry/registry.ts';
import { type Logger } from 'pino';
import { Registry as MetricsRegistry } from 'prom-client';
import { bmcTraffic } from './bmc-traffic.ts';

export interface SystemOptions {
  readonly config: OperatorConfig;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Who holds the lease; unique per process. */
  readonly identity: string;
}

/** One process of the product, with the parts that its configuration names. */
export interface RunningSystem extends AsyncDisposable {
  /** Where probes report to; undefined without the registry. */
  readonly registryUrl: string | undefined;
  /** Where machines boot from; undefined without the boot service. */
  readonly bootUrl: string | undefined;
  readonly metrics: MetricsRegistry;
  readonly client: KubeClient;
  /** Settles when the system has stopped; rejects when it had to. */
  readonly stopped: Promise<void>;
}

/** How long running turns may take to finish after the signal to stop. */
const gracePeriodMs = 8_000;

/**
 * Starts the parts in the order in which they need each other: caches, the services that machines talk to, then the
 * controllers that send machines there. Disposing stops them the other way round.
 */
export async function startSystem(options: SystemOptions): Promise<RunningSystem> {
  const { config, clock, log } = options;
  const stack = new AsyncDisposableStack();
  try {
    const metrics = new MetricsRegistry();
    const client = stack.use(
      createKubeClient({ kubeconfigPath: config.kubeconfigPath, defaultFieldManager: 'metal-operator', metrics }),
    );
    const cacheSet = new CacheSet({ client, clock, log, metrics });
    const caches = watchOperatorKinds(cacheSet);
    const stop = new AbortController();
    stack.defer(() => cacheSet.stop());
    await cacheSet.start(stop.signal);

    const shared: Shared = {
      ...options,
      client,
      caches,
      metrics,
      signal: stop.signal,
      bootTokenKey: bootTokenKeyFrom(client, config.managerNamespace),
    };
    const registryUrl = await has(config, 'registry', () => startRegistryPart(shared, stack));
    const bootUrl = await has(config, 'boot', () => startBootPart(shared, registryUrl ?? config.registryUrl, stack));
    const running = config.components.has('controllers')
      ? runControllers(shared, cacheSet, registryUrl ?? config.registryUrl, stack)
      : undefined;
    const stopped =
      running ?? new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }));
    // A failure is reported through `stopped`; disposing must not throw it a second time.
    stack.defer(() => stopped.catch(() => undefined));
    stack.defer(() => stop.abort(new Error('stopping')));
    const owned = stack.move();
    return { registryUrl, bootUrl, metrics, client, stopped, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

interface Shared extends SystemOptions {
  readonly client: KubeClient;
  readonly caches: OperatorCaches;
  readonly metrics: MetricsRegistry;
  readonly signal: AbortSignal;
  readonly bootTokenKey: () => Promise<Uint8Array>;
}

async function has<T>(
  { components }: OperatorConfig,
  part: Component,
  start: () => Promise<T>,
): Promise<T | undefined> {
  return components.has(part) ? start() : undefined;
}

async function startRegistryPart(shared: Shared, stack: AsyncDisposableStack): Promise<string> {
  const { config, caches, client, clock, log, metrics, bootTokenKey } = shared;
  const service = await startRegistry({
    listen: { port: config.registryPort },
    auth: config.registryAuth,
    client,
    servers: caches.servers,
    bootConfigurations: caches.bootConfigurations,
    inventories: caches.inventories,
    bootTokenKey,
    clock,
    log: log.child({ part: 'registry' }),
    metrics,
  });
  stack.use(service);
  return withActualPort(config.registryUrl, config.registryPort, service.port);
}

async function startBootPart(shared: Shared, registryUrl: string, stack: AsyncDisposableStack): Promise<string> {
  const { config, caches, client, clock, log, metrics, bootTokenKey, signal } = shared;
  const service = await startBoot({
    listen: { port: config.bootPort },
    auth: config.registryAuth,
    client,
    servers: caches.servers,
    bootConfigurations: caches.bootConfigurations,
    bootTokenKey,
    publicUrl: config.bootPort === 0 ? undefined : config.bootUrl,
    publicHost: new URL(config.bootUrl).hostname,
    registryUrl,
    imagesFile: config.bootImagesFile,
    clock,
    log: log.child({ part: 'boot' }),
    metrics,
    signal,
  });
  stack.use(service);
  return withActualPort(config.bootUrl, config.bootPort, service.port);
}

/** A port of 0 lets the system choose; the URL that is handed out then names the chosen one. */
function withActualPort(url: string, asked: number, actual: number): string {
  if (asked !== 0) return url;
  const adjusted = new URL(url);
  adjusted.port = String(actual);
  return adjusted.toString().replace(/\/$/, '');
}

function runControllers(
  shared: Shared,
  cacheSet: CacheSet,
  registryUrl: string,
  stack: AsyncDisposableStack,
): Promise<void> {
  const { config, caches, client, clock, log, metrics, signal } = shared;
  const access = new BmcAccess({
    clock,
    random: shared.random,
    callDeadlineMs: config.bmcCallTimeoutMs,
    observerOf: bmcTraffic(metrics),
  });
  stack.use(access);
  const dnsRecords = dnsRecordsOf(config.dnsRecordTemplatePath, { namespace: config.managerNamespace, client });
  stack.use(forgetTheDeleted(caches, access));
  stack.use(
    caches.bmcs.onChange(({ before, after }) => after === undefined && dnsRecords?.forget(before?.metadata.uid ?? '')),
  );
  const scheduler = new ClaimScheduler(caches);
  stack.use(scheduler.start());
  const context: OperatorContext = {
    client,
    caches,
    clock,
    config,
    access,
    scheduler,
    macPrefixes: readMacPrefixes(config.macPrefixesFile),
    discoveryIgnition: discoveryIgnitionOf({
      templatePath: config.ignitionTemplatePath,
      probeImage: config.probeImage,
      registryUrl,
    }),
    dnsRecords,
    bootTokenKey: shared.bootTokenKey,
  };
  return runManager({
    controllers,
    caches: cacheSet,
    client,
    context,
    clock,
    log,
    registry: metrics,
    events: true,
    signal,
    gracePeriodMs,
    ...(config.leaderElect ? { leaderElection: leaderElectionOf(config, shared.identity) } : {}),
  });
}

/** A BMC or server that is gone takes its session and what is remembered of it along. */
function forgetTheDeleted({ bmcs, servers, endpoints }: OperatorCaches, access: BmcAccess): Disposable {
  const stack = new DisposableStack();
  stack.use(bmcs.onChange(({ key, after }) => after === undefined && access.forgetBmc(key)));
  stack.use(
    servers.onChange(({ before, after }) => after === undefined && access.forgetSystem(before?.metadata.uid ?? '')),
  );
  stack.use(
    endpoints.onChange(({ before, after }) => after === undefined && access.forgetLogins(before?.metadata.uid ?? '')),
  );
  return stack;
}

/** Name and times of v0.7.0, so that the two never work at once in one cluster. */
const leaderElectionOf = (config: OperatorConfig, identity: string) => ({
  namespace: config.managerNamespace,
  leaseName: 'f26702e4.ironcore.dev',
  identity,
  leaseMs: 15_000,
  renewMs: 10_000,
  retryMs: 2_000,
});

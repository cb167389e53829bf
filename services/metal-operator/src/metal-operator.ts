import { BmcConnectionPool } from '@metal/operator/bmc-connections/connection-pool.ts';
import { retiredFieldManagers } from '@metal/api/wire/contract.ts';
import { KeyedMutex } from '@metal/kube/runtime/keyed-mutex.ts';
import { evictDeletedState, evictMovedState, releaseShard } from '@metal/operator/bmc-connections/eviction.ts';
import { isOwnedIn } from '@metal/operator/bmc-connections/shard-key.ts';
import { bootTokenKeyFrom } from '@metal/api/wire/boot-token-key.ts';
import { watchOperatorKinds } from '@metal/operator/caches.ts';
import { CleanupQueue } from '@metal/operator/cleanup/cleanup-queue.ts';
import type { Component, OperatorConfig } from '@metal/operator/config.ts';
import type { OperatorContext } from '@metal/operator/controllers/context.ts';
import { controllersFor } from '@metal/operator/controllers.ts';
import { discoveryIgnitionOf } from '@metal/operator/controllers/server/discovery/discovery-ignition.ts';
import { dnsRecordsOf } from '@metal/operator/controllers/bmc/dns/dns-records.ts';
import { MacAddressIndexController } from '@metal/operator/controllers/macaddressindex/mac-address-index.ts';
import { readMacPrefixes } from '@metal/api/mac-prefixes.ts';
import { DiscoveryLimiter } from '@metal/operator/controllers/endpoint/discovery-limiter.ts';
import { BmcEventRefresher } from '@metal/operator/bmc-connections/event-refresher.ts';
import { ReadinessSummary } from '@metal/operator/readiness/readiness-summary.ts';
import { ClaimScheduler } from '@metal/operator/scheduling/scheduler.ts';
import { SecretsInUse } from '@metal/operator/controllers/bmcuser/secrets-in-use.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import { watchIpxeBootConfigs } from '@metal/boot/boot.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { Leadership } from '@metal/kube/election/leadership.ts';
import { runManager } from '@metal/kube/controller/manager.ts';
import { type MachineCaches, watchMachineKinds } from '@metal/dhcp/machines.ts';
import { watchMetadataKinds } from '@metal/metadata/metadata.ts';
import { Registry as MetricsRegistry } from 'prom-client';
import {
  type Shared,
  type SharedWithCaches,
  startBootService,
  startDhcpService,
  startEventsService,
  startMetadataService,
  startRegistryService,
  type MetalOperatorOptions,
} from './services.ts';
import { exportFleet } from './metrics/metrics.ts';
import { exportShardMetrics } from './metrics/shard-metrics.ts';
import { leasesOfReplicas, membershipOf } from './membership.ts';

/** One process of the product, with the parts that its configuration names. */
export interface RunningMetalOperator extends AsyncDisposable {
  /** Where probes report to; undefined without the registry. */
  readonly registryUrl: string | undefined;
  /** Where machines boot from; undefined without the boot service. */
  readonly bootUrl: string | undefined;
  /** Where machines ask for their metadata; undefined without the metadata service. */
  readonly metadataUrl: string | undefined;
  /** Where BMCs send events to; undefined without the event receiver. */
  readonly eventUrl: string | undefined;
  readonly metrics: MetricsRegistry;
  readonly client: KubeClient;
  /** Settles when the system has stopped; rejects when it had to. */
  readonly stopped: Promise<void>;
}

/** How long running turns may take to finish after the signal to stop. */
const gracePeriodMs = 8_000;

/** What there is of a system before it has started, for those who ask how far it is. */
export interface PreparedMetalOperator {
  readonly metrics: MetricsRegistry;
  readonly client: KubeClient;
  /** Why it cannot do its work yet, in words; undefined when it has started. */
  readonly notReadyReason: string | undefined;
  start(): Promise<RunningMetalOperator>;
}

/** Asks nobody anything yet. @throws KubeError when no cluster is configured */
export function prepareMetalOperator(options: MetalOperatorOptions): PreparedMetalOperator {
  const metrics = new MetricsRegistry();
  const client = createKubeClient({
    kubeconfigPath: options.config.kubeconfigPath,
    homeCluster: options.config.homeCluster,
    defaultFieldManager: 'metal-operator',
    metrics,
  });
  const cacheSet = new CacheSet({ client, clock: options.clock, log: options.log, metrics });
  let hasStarted = false;
  return {
    metrics,
    client,
    get notReadyReason() {
      return hasStarted ? undefined : `it is starting: ${describeUnsynced(cacheSet)}`;
    },
    start: async () => {
      const operator = await start({ ...options, metrics, client, cacheSet });
      hasStarted = true;
      return operator;
    },
  };
}

function describeUnsynced({ unsynced }: CacheSet): string {
  if (unsynced.length === 0) return 'it knows the fleet, and its services do not listen yet';
  const reason = unsynced.find(({ lastError }) => lastError !== undefined)?.lastError;
  const names = unsynced.map(({ resource }) => resource).join(', ');
  return `it does not know all ${names} yet${reason === undefined ? '' : `: ${reason}`}`;
}

export async function startMetalOperator(options: MetalOperatorOptions): Promise<RunningMetalOperator> {
  return prepareMetalOperator(options).start();
}

interface Prepared extends MetalOperatorOptions {
  readonly metrics: MetricsRegistry;
  readonly client: KubeClient;
  readonly cacheSet: CacheSet;
}

/**
 * Starts the parts in the order in which they need each other: caches, the services that machines talk to, then the
 * controllers that send machines there. Disposing stops them the other way round.
 */
async function start({ metrics, client, cacheSet, ...options }: Prepared): Promise<RunningMetalOperator> {
  const { config } = options;
  const stack = new AsyncDisposableStack();
  try {
    stack.use(client);
    const metadataCaches = config.components.has('metadata') ? watchMetadataKinds(cacheSet) : undefined;
    const caches = servesMetadataOnly(config) ? undefined : watchOperatorKinds(cacheSet);
    if (config.components.has('boot')) watchIpxeBootConfigs(cacheSet);
    const machineCaches = config.components.has('dhcp') ? watchMachineKinds(cacheSet) : undefined;
    const stop = new AbortController();
    stack.defer(() => cacheSet.stop());
    await cacheSet.start(stop.signal);

    const shared: Shared = {
      ...options,
      client,
      metrics,
      signal: stop.signal,
      bootTokenKey: bootTokenKeyFrom(client, config.managerNamespace),
    };
    const metadataUrl = metadataCaches && (await startMetadataService(withPool('boot', shared), metadataCaches, stack));
    const { registryUrl, bootUrl, eventUrl, running } =
      caches === undefined
        ? noOtherServices
        : await startOtherServices({ ...shared, caches }, { cacheSet, machineCaches }, stack);
    const stopped =
      running ?? new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }));
    // A failure is reported through `stopped`; disposing must not throw it a second time.
    stack.defer(() => stopped.catch(() => undefined));
    stack.defer(() => stop.abort(new Error('stopping')));
    const owned = stack.move();
    const dispose = () => owned.disposeAsync();
    const urls = { registryUrl, bootUrl, metadataUrl, eventUrl };
    return { ...urls, metrics, client, stopped, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** A process that faces every machine and reads as little as it can: its role does not cover the other watches. */
const servesMetadataOnly = ({ components }: OperatorConfig): boolean =>
  components.size === 1 && components.has('metadata');

/** What runs beside the metadata service. */
interface OtherServices {
  readonly registryUrl: string | undefined;
  readonly bootUrl: string | undefined;
  readonly eventUrl: string | undefined;
  /** Settles when the controllers have stopped. */
  readonly running: Promise<void> | undefined;
}

const noOtherServices: OtherServices = {
  registryUrl: undefined,
  bootUrl: undefined,
  eventUrl: undefined,
  running: undefined,
};

/** For services that do nothing else: what machines wait for does not stand behind the work on a fleet, as they give up. */
const withPool = <S extends Shared>(pool: 'boot' | 'report', shared: S): S => ({
  ...shared,
  client: shared.client.withPool(pool),
});

async function startOtherServices(
  shared: SharedWithCaches,
  { cacheSet, machineCaches }: { cacheSet: CacheSet; machineCaches: MachineCaches | undefined },
  stack: AsyncDisposableStack,
): Promise<OtherServices> {
  const { config } = shared;
  const registryUrl = await startIfEnabled(config, 'registry', () =>
    startRegistryService(withPool('report', shared), stack),
  );
  const boot = await startIfEnabled(config, 'boot', () =>
    startBootService(shared, { registryUrl: registryUrl ?? config.registryUrl, cacheSet }, stack),
  );
  const bootUrl = boot?.url;
  if (machineCaches !== undefined)
    await startDhcpService({ ...shared, caches: machineCaches }, boot ?? { url: config.bootUrl }, stack);
  if (!config.components.has('controllers')) return { registryUrl, bootUrl, eventUrl: undefined, running: undefined };
  const bmcEvents = new KeyNotifier();
  const eventUrl =
    config.eventUrl === undefined ? undefined : await startEventsService(shared, config.eventUrl, bmcEvents, stack);
  const urls = { registryUrl: registryUrl ?? config.registryUrl, eventUrl };
  return {
    registryUrl,
    bootUrl,
    eventUrl,
    running: runControllers({ ...shared, bmcEvents, ...urls }, cacheSet, stack),
  };
}

async function startIfEnabled<T>(
  { components }: OperatorConfig,
  component: Component,
  start: () => Promise<T>,
): Promise<T | undefined> {
  return components.has(component) ? start() : undefined;
}

interface ControllersOptions extends SharedWithCaches {
  readonly registryUrl: string;
  readonly eventUrl: string | undefined;
  /** The named BMC pushed something worth a look. */
  readonly bmcEvents: KeyNotifier;
}

function runControllers(shared: ControllersOptions, cacheSet: CacheSet, stack: AsyncDisposableStack): Promise<void> {
  const { caches, client, clock, log, metrics, signal, registryUrl, eventUrl } = shared;
  // BMCs are told the port that became of 0.
  const config = { ...shared.config, eventUrl };
  const scheduler = new ClaimScheduler(caches, clock, { maxInFlight: shared.maxInFlight });
  const readiness = new ReadinessSummary(caches);
  const { traffic } = stack.use(exportFleet(metrics, { caches, scheduler, clock }));
  const membership = config.shards === 'auto' ? membershipOf(shared) : undefined;
  const leadership = config.leaderElect ? leadershipOf(shared) : undefined;
  exportShardMetrics(metrics, { membership, caches });
  const bmcConnections = new BmcConnectionPool({
    clock,
    random: shared.random,
    callDeadlineMs: config.bmcCallTimeoutMs,
    traffic,
    isOwned: isOwnedIn(caches),
    maySend: (key) => (membership ?? leadership)?.isOwner(key) ?? true,
  });
  stack.use(bmcConnections);
  if (membership !== undefined) stack.use(evictMovedState(bmcConnections, caches, (key) => membership.isOwner(key)));
  const dnsRecords = dnsRecordsOf(config.dnsRecordTemplatePath, { namespace: config.managerNamespace, client });
  const discoveryLimiter = stack.use(
    new DiscoveryLimiter({ clock, servers: caches.servers, maxInFlight: shared.maxInFlight }),
  );
  stack.use(evictDeletedState(bmcConnections, caches));
  const eventRefresher = stack.use(
    new BmcEventRefresher({ bmcConnections, caches, clock, mayRefresh: (name) => bmcConnections.maySend(name) }),
  );
  stack.use(shared.bmcEvents.on((name) => eventRefresher.onEvent(name)));
  const context: OperatorContext = {
    client,
    caches,
    clock,
    config,
    bmcConnections,
    accountChanges: new KeyedMutex(),
    secretsInUse: new SecretsInUse({ client, clock }),
    scheduler,
    readiness,
    cleanupQueue: stack.use(new CleanupQueue(caches.servers, clock, { maxInFlight: shared.maxInFlight })),
    discoveryLimiter,
    macPrefixes: readMacPrefixes(config.macPrefixesFile),
    discoveryIgnition: discoveryIgnitionOf({
      templatePath: config.ignitionTemplatePath,
      probeImage: config.probeImage,
      registryUrl,
      registryAuth: config.registryAuth,
      registryCaPem: config.registryCaPem,
    }),
    dnsRecords,
    bootTokenKey: shared.bootTokenKey,
  };
  return runManager({
    controllers: controllersFor(config),
    caches: cacheSet,
    client,
    context,
    clock,
    log,
    registry: metrics,
    events: true,
    retiredFieldManagers,
    signal,
    gracePeriodMs,
    leadership,
    membership,
    releaseShard: (isConcerned) => releaseShard(bmcConnections, caches, isConcerned),
    memberLeases: leasesOfReplicas(shared),
    leaderRunnables: () =>
      startRunnables(scheduler, readiness, new MacAddressIndexController({ client, caches, clock, log })),
  });
}

function startRunnables(...runnables: readonly { start(): Disposable }[]): Disposable {
  const stack = new DisposableStack();
  for (const runnable of runnables) stack.use(runnable.start());
  return stack;
}

/** The name of v0.7.0, so that the two never work at once in one cluster. */
const leadershipOf = ({ config, client, clock, log, identity }: Shared): Leadership =>
  new Leadership({
    options: {
      namespace: config.managerNamespace,
      leaseName: 'f26702e4.ironcore.dev',
      identity,
      ...config.lease,
      isSharing: config.shards === 'auto',
    },
    client,
    clock,
    log,
  });

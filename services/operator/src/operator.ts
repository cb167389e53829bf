import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import { readMacPrefixes } from '@metal/api/mac-prefixes.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Controller } from '@metal/kube/controller/definition.ts';
import type { ControllerMetrics } from '@metal/kube/controller/metrics.ts';
import { runManager } from '@metal/kube/controller/manager.ts';
import { Leadership } from '@metal/kube/election/leadership.ts';
import { leaseNameOf, memberLeases } from '@metal/kube/election/shards/member-leases.ts';
import { ShardMembership } from '@metal/kube/election/shards/membership.ts';
import type { MemberLeases, MembershipTimes } from '@metal/kube/election/shards/membership-options.ts';
import { KeyedMutex } from '@metal/kube/runtime/keyed-mutex.ts';
import { retiredFieldManagers } from '@metal/api/wire/contract.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import type { TrafficObserver } from './bmc-connections/bmc-client-factory.ts';
import { BmcConnectionPool } from './bmc-connections/connection-pool.ts';
import { evictDeletedState, evictMovedState, releaseShard } from './bmc-connections/eviction.ts';
import { BmcEventRefresher } from './bmc-connections/event-refresher.ts';
import { isOwnedIn } from './bmc-connections/shard-key.ts';
import type { OperatorCaches } from './caches.ts';
import { CleanupQueue } from './cleanup/cleanup-queue.ts';
import { controllersFor } from './controllers.ts';
import { dnsRecordsOf } from './controllers/bmc/dns/dns-records.ts';
import { SecretsInUse } from './controllers/bmcuser/secrets-in-use.ts';
import type { OperatorContext } from './controllers/context.ts';
import { DiscoveryLimiter } from './controllers/endpoint/discovery-limiter.ts';
import { MacAddressIndexController } from './controllers/macaddressindex/mac-address-index.ts';
import { discoveryIgnitionOf } from './controllers/server/discovery/discovery-ignition.ts';
import { MaintenanceSlots } from './maintenance/maintenance-slots.ts';
import type { OperatorConfig } from './options.ts';
import { ReadinessSummary } from './readiness/readiness-summary.ts';
import { ClaimScheduler } from './scheduling/scheduler.ts';
import { ImageChecks, type ImageChecksOptions } from './update-engine/image-checks.ts';

export interface OperatorOptions {
  readonly config: OperatorConfig;
  /** Holder of the leases; unique per process. */
  readonly identity: string;
  readonly leaderElect: boolean;
  readonly lease: MembershipTimes;
  readonly client: KubeClient;
  readonly cacheSet: CacheSet;
  /** The watches of this set that `watchOperatorKinds` declares. */
  readonly caches: OperatorCaches;
  /** The registry that probes report to. */
  readonly registry: { readonly url: string; readonly auth: 'token' | 'none'; readonly caPem: string | undefined };
  readonly bootTokenKey: () => Promise<Uint8Array>;
  /** The boot service serves firmware images to BMCs; no image is fetched from a refused address. */
  readonly firmwareImages: Pick<ImageChecksOptions, 'bootUrl' | 'isRefusedAddress'>;
  /** The named BMC sent an event. */
  readonly bmcEvents: KeyNotifier;
  readonly traffic?: TrafficObserver | undefined;
  /** Endpoints in discovery, claims in binding and servers in cleanup at once, each; 200 by default. */
  readonly maxInFlight?: number | undefined;
  /** Controllers to run instead of the built-in ones of `controllersFor`. */
  readonly controllers?: readonly Controller<OperatorContext>[] | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Of the process, where it has another manager. */
  readonly controllerMetrics?: ControllerMetrics | undefined;
  /** Stops the controllers, as disposing does. */
  readonly signal?: AbortSignal | undefined;
}

/** Disposing stops the controllers and closes the connections to BMCs. */
export interface RunningOperator extends AsyncDisposable {
  readonly scheduler: ClaimScheduler;
  /** Undefined unless replicas divide the BMCs among themselves. */
  readonly membership: ShardMembership | undefined;
  /** Resolves when the controllers have stopped; rejects when they had to, for example with LeaseLost. */
  readonly stopped: Promise<void>;
}

/** How long running reconciles may take to finish when the operator stops. */
const gracePeriodMs = 8_000;

/** @throws ConfigError when a file that an option names cannot be used */
export async function startOperator(options: OperatorOptions): Promise<RunningOperator> {
  const { caches, cacheSet, client, clock, log, metrics, config } = options;
  await using stack = new AsyncDisposableStack();
  const membership = config.shards === 'auto' ? membershipOf(options) : undefined;
  const leadership = options.leaderElect ? leadershipOf(options) : undefined;
  const bmcConnections = stack.use(openConnectionPool(options, membership ?? leadership));
  const context = contextOf(options, bmcConnections, stack);
  if (membership !== undefined) stack.use(evictMovedState(bmcConnections, caches, (key) => membership.isOwner(key)));
  const { scheduler, readiness } = context;
  const stop = new AbortController();
  const stopped = runManager({
    controllers: (options.controllers ?? controllersFor(config)).map(withFieldManager),
    caches: cacheSet,
    client,
    context,
    clock,
    log,
    registry: metrics,
    controllerMetrics: options.controllerMetrics,
    retiredFieldManagers,
    signal: AbortSignal.any([stop.signal, ...(options.signal === undefined ? [] : [options.signal])]),
    gracePeriodMs,
    leadership,
    membership,
    releaseShard: (isReleased) => releaseShard(bmcConnections, caches, isReleased),
    memberLeases: replicaLeasesOf(options),
    leaderRunnables: () =>
      startRunnables(scheduler, readiness, new MacAddressIndexController({ client, caches, clock, log })),
  });
  // A failure is reported through `stopped`; disposing must not throw it a second time.
  stack.defer(() => stopped.catch(() => undefined));
  stack.defer(() => stop.abort(new Error('stopping')));
  const owned = stack.move();
  return { scheduler, membership, stopped, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Each controller writes under a field manager of its own. */
const withFieldManager = (controller: Controller<OperatorContext>): Controller<OperatorContext> => ({
  ...controller,
  start: (runtime, context) => {
    const client = context.client.withFieldManager(fieldManagerOf(controller.name));
    return controller.start(runtime, { ...context, client });
  },
});

function openConnectionPool(
  { caches, clock, config, random, traffic }: OperatorOptions,
  ownership: { isOwner(key: string): boolean } | undefined,
): BmcConnectionPool {
  return new BmcConnectionPool({
    clock,
    random,
    callDeadlineMs: config.bmcCallTimeoutMs,
    ...(traffic === undefined ? {} : { traffic }),
    isOwned: isOwnedIn(caches),
    maySend: (key) => ownership?.isOwner(key) ?? true,
  });
}

/** Everything that controllers share. The stack disposes what has to end with them. */
function contextOf(
  options: OperatorOptions,
  bmcConnections: BmcConnectionPool,
  stack: AsyncDisposableStack,
): OperatorContext {
  const { caches, client, clock, config, registry, maxInFlight } = options;
  const context: OperatorContext = {
    client,
    caches,
    clock,
    config,
    bmcConnections,
    accountChanges: new KeyedMutex(),
    maintenanceSlots: new MaintenanceSlots(caches.servers, clock, config.maxServersInMaintenance),
    rolloutStarts: new KeyedMutex(),
    secretsInUse: new SecretsInUse({ client, clock }),
    scheduler: new ClaimScheduler(caches, clock, { maxInFlight }),
    readiness: new ReadinessSummary(caches),
    cleanupQueue: stack.use(new CleanupQueue(caches.servers, clock, { maxInFlight })),
    discoveryLimiter: stack.use(new DiscoveryLimiter({ clock, servers: caches.servers, maxInFlight })),
    macPrefixes: readMacPrefixes(config.macPrefixesFile),
    discoveryIgnition: discoveryIgnitionOf({
      templatePath: config.ignitionTemplatePath,
      probeImage: config.probeImage,
      registryUrl: registry.url,
      registryAuth: registry.auth,
      registryCaPem: registry.caPem,
    }),
    dnsRecords: dnsRecordsOf(config.dnsRecordTemplatePath, { namespace: config.managerNamespace, client }),
    bootTokenKey: options.bootTokenKey,
    imageChecks: stack.use(new ImageChecks({ clock, ...options.firmwareImages })),
  };
  evictAndRefresh(context, options.bmcEvents, stack);
  return context;
}

/** Closes the connections of deleted objects, and reads a BMC again when it sends an event. */
function evictAndRefresh(context: OperatorContext, bmcEvents: KeyNotifier, stack: AsyncDisposableStack): void {
  const { bmcConnections, caches, clock } = context;
  stack.use(evictDeletedState(bmcConnections, caches));
  const eventRefresher = stack.use(
    new BmcEventRefresher({ bmcConnections, caches, clock, mayRefresh: (name) => bmcConnections.maySend(name) }),
  );
  stack.use(bmcEvents.on((name) => eventRefresher.onEvent(name)));
}

function startRunnables(...runnables: readonly { start(): Disposable }[]): Disposable {
  const stack = new DisposableStack();
  for (const runnable of runnables) stack.use(runnable.start());
  return stack;
}

/** The lease has the name that v0.7.0 uses, so that the two never work at once in one cluster. */
const leadershipOf = ({ config, client, clock, log, identity, lease }: OperatorOptions): Leadership =>
  new Leadership({
    options: {
      namespace: config.managerNamespace,
      leaseName: 'f26702e4.ironcore.dev',
      identity,
      ...lease,
      isSharing: config.shards === 'auto',
    },
    client,
    clock,
    log,
  });

/** Leases of replicas are called `metal-operator-<identity>`. */
export const replicaGroup = 'metal-operator';

/** The leases of all replicas that divide the BMCs, with the times of the leader's lease. */
const replicaLeasesOf = ({ client, clock, config, identity, lease }: OperatorOptions): MemberLeases =>
  memberLeases({
    client,
    clock,
    namespace: config.managerNamespace,
    group: replicaGroup,
    identity,
    leaseMs: lease.leaseMs,
  });

const membershipOf = (options: OperatorOptions): ShardMembership =>
  new ShardMembership({
    self: leaseNameOf(replicaGroup, options.identity),
    leases: replicaLeasesOf(options),
    times: options.lease,
    clock: options.clock,
    log: options.log.child({ part: 'shards' }),
  });

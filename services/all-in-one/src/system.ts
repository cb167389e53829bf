import { AccountMemories } from '@metal/operator/account-memories.ts';
import { BmcAccess } from '@metal/operator/bmc-access.ts';
import { isOwnedIn } from '@metal/operator/bmc-key.ts';
import { bootTokenKeyFrom } from '@metal/operator/boot-token-key.ts';
import { watchOperatorKinds } from '@metal/operator/caches.ts';
import { CleanupLedger } from '@metal/operator/cleanup-ledger.ts';
import type { Component, OperatorConfig } from '@metal/operator/config.ts';
import type { OperatorContext } from '@metal/operator/context.ts';
import { controllersFor } from '@metal/operator/controllers.ts';
import { discoveryIgnitionOf } from '@metal/operator/discovery-ignition.ts';
import { dnsRecordsOf } from '@metal/operator/dns-records.ts';
import { MacAddressIndexKeeper } from '@metal/operator/mac-address-index.ts';
import { readMacPrefixes } from '@metal/operator/mac-prefixes.ts';
import { forgetTheDeleted } from '@metal/operator/forget-the-deleted.ts';
import { forgetTheMoved, letGo } from '@metal/operator/hand-over.ts';
import { Notices } from '@metal/operator/notices.ts';
import { DiscoveryPace } from '@metal/operator/discovery-pace.ts';
import { PromptLooks } from '@metal/operator/prompt-looks.ts';
import { ReadinessStandings } from '@metal/operator/readiness-standings.ts';
import { ClaimScheduler } from '@metal/operator/scheduler.ts';
import { SecretsInUse } from '@metal/operator/secrets-in-use.ts';
import { Signal } from '@metal/operator/signal.ts';
import { watchIpxeBootConfigs } from '@metal/boot/boot.ts';
import { CacheSet } from '@metal/kube/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client.ts';
import { Leadership } from '@metal/kube/leader.ts';
import { runManager } from '@metal/kube/manager.ts';
import { type MachineCaches, watchMachineKinds } from '@metal/dhcp/machines.ts';
import { watchMetadataKinds } from '@metal/metadata/metadata.ts';
import { Registry as MetricsRegistry } from 'prom-client';
import {
  type Shared,
  type SharedWithCaches,
  startBootPart,
  startDhcpPart,
  startEventsPart,
  startMetadataPart,
  startRegistryPart,
  type SystemOptions,
} from './service-parts.ts';
import { exportFleet } from './metrics/metrics.ts';
import { exportShare } from './metrics/share.ts';
import { leasesOfReplicas, membershipOf } from './membership.ts';

/** One process of the product, with the parts that its configuration names. */
export interface RunningSystem extends AsyncDisposable {
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
export interface PreparedSystem {
  readonly metrics: MetricsRegistry;
  readonly client: KubeClient;
  /** Why it cannot do its work yet, in words; undefined when it has started. */
  readonly obstacle: string | undefined;
  start(): Promise<RunningSystem>;
}

/** Asks nobody anything yet. @throws KubeError when no cluster is configured */
export function prepareSystem(options: SystemOptions): PreparedSystem {
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
    get obstacle() {
      return hasStarted ? undefined : `it is starting: ${whatIsMissing(cacheSet)}`;
    },
    start: async () => {
      const system = await start({ ...options, metrics, client, cacheSet });
      hasStarted = true;
      return system;
    },
  };
}

function whatIsMissing({ missing }: CacheSet): string {
  if (missing.length === 0) return 'it knows the fleet, and its services do not listen yet';
  const why = missing.find(({ problem }) => problem !== undefined)?.problem;
  const names = missing.map(({ resource }) => resource).join(', ');
  return `it does not know all ${names} yet${why === undefined ? '' : `: ${why}`}`;
}

export async function startSystem(options: SystemOptions): Promise<RunningSystem> {
  return prepareSystem(options).start();
}

interface Prepared extends SystemOptions {
  readonly metrics: MetricsRegistry;
  readonly client: KubeClient;
  readonly cacheSet: CacheSet;
}

/**
 * Starts the parts in the order in which they need each other: caches, the services that machines talk to, then the
 * controllers that send machines there. Disposing stops them the other way round.
 */
async function start({ metrics, client, cacheSet, ...options }: Prepared): Promise<RunningSystem> {
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
    const metadataUrl = metadataCaches && (await startMetadataPart(inLane('machine', shared), metadataCaches, stack));
    const { registryUrl, bootUrl, eventUrl, running } =
      caches === undefined ? nothingElse : await startOthers({ ...shared, caches }, { cacheSet, machineCaches }, stack);
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
interface OtherParts {
  readonly registryUrl: string | undefined;
  readonly bootUrl: string | undefined;
  readonly eventUrl: string | undefined;
  /** Settles when the controllers have stopped. */
  readonly running: Promise<void> | undefined;
}

const nothingElse: OtherParts = {
  registryUrl: undefined,
  bootUrl: undefined,
  eventUrl: undefined,
  running: undefined,
};

/** For services that do nothing else: what machines wait for does not stand behind the work on a fleet, as they give up. */
const inLane = <S extends Shared>(lane: 'machine' | 'report', shared: S): S => ({
  ...shared,
  client: shared.client.inLane(lane),
});

async function startOthers(
  shared: SharedWithCaches,
  { cacheSet, machineCaches }: { cacheSet: CacheSet; machineCaches: MachineCaches | undefined },
  stack: AsyncDisposableStack,
): Promise<OtherParts> {
  const { config } = shared;
  const registryUrl = await has(config, 'registry', () => startRegistryPart(inLane('report', shared), stack));
  const boot = await has(config, 'boot', () =>
    startBootPart(shared, { registryUrl: registryUrl ?? config.registryUrl, cacheSet }, stack),
  );
  const bootUrl = boot?.url;
  if (machineCaches !== undefined)
    await startDhcpPart({ ...shared, caches: machineCaches }, boot ?? { url: config.bootUrl }, stack);
  if (!config.components.has('controllers')) return { registryUrl, bootUrl, eventUrl: undefined, running: undefined };
  const bmcSpoke = new Signal();
  const eventUrl =
    config.eventUrl === undefined ? undefined : await startEventsPart(shared, config.eventUrl, bmcSpoke, stack);
  const urls = { registryUrl: registryUrl ?? config.registryUrl, eventUrl };
  return { registryUrl, bootUrl, eventUrl, running: runControllers({ ...shared, bmcSpoke, ...urls }, cacheSet, stack) };
}

async function has<T>(
  { components }: OperatorConfig,
  part: Component,
  start: () => Promise<T>,
): Promise<T | undefined> {
  return components.has(part) ? start() : undefined;
}

interface ControllersOptions extends SharedWithCaches {
  readonly registryUrl: string;
  readonly eventUrl: string | undefined;
  /** The named BMC pushed something worth a look. */
  readonly bmcSpoke: Signal;
}

function runControllers(shared: ControllersOptions, cacheSet: CacheSet, stack: AsyncDisposableStack): Promise<void> {
  const { caches, client, clock, log, metrics, signal, registryUrl, eventUrl } = shared;
  // BMCs are told the port that became of 0.
  const config = { ...shared.config, eventUrl };
  const scheduler = new ClaimScheduler(caches, clock, { most: shared.maxInFlight });
  const readiness = new ReadinessStandings(caches);
  const { traffic } = stack.use(exportFleet(metrics, { caches, scheduler, clock }));
  const membership = config.shards === 'auto' ? membershipOf(shared) : undefined;
  const leadership = config.leaderElect ? leadershipOf(shared) : undefined;
  exportShare(metrics, { membership, caches });
  const access = new BmcAccess({
    clock,
    random: shared.random,
    callDeadlineMs: config.bmcCallTimeoutMs,
    traffic,
    isOwned: isOwnedIn(caches),
    mayTalk: (key) => (membership ?? leadership)?.mayAct(key) ?? true,
  });
  stack.use(access);
  if (membership !== undefined) stack.use(forgetTheMoved({ access, caches }, (key) => membership.mayAct(key)));
  const dnsRecords = dnsRecordsOf(config.dnsRecordTemplatePath, { namespace: config.managerNamespace, client });
  stack.use(
    caches.bmcs.onChange(({ before, after }) => after === undefined && dnsRecords?.forget(before?.metadata.uid ?? '')),
  );
  const accounts = new AccountMemories();
  const notices = new Notices();
  const discoveries = stack.use(new DiscoveryPace({ clock, servers: caches.servers, most: shared.maxInFlight }));
  stack.use(forgetTheDeleted(caches, { access, accounts, notices, discoveries }));
  const looks = stack.use(new PromptLooks({ access, caches, clock, mayLookAt: (name) => access.mayTalk(name) }));
  stack.use(shared.bmcSpoke.on((name) => looks.heardFrom(name)));
  const context: OperatorContext = {
    client,
    caches,
    clock,
    config,
    access,
    accounts,
    secretsInUse: new SecretsInUse({ client, clock }),
    notices,
    scheduler,
    readiness,
    cleanups: stack.use(new CleanupLedger(caches.servers, clock, { most: shared.maxInFlight })),
    discoveries,
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
    signal,
    gracePeriodMs,
    leadership,
    membership,
    letGo: (isConcerned) => letGo(context, isConcerned),
    sharers: leasesOfReplicas(shared),
    whileLeading: () => leadersWork(scheduler, readiness, new MacAddressIndexKeeper({ client, caches, clock, log })),
  });
}

function leadersWork(...parts: readonly { start(): Disposable }[]): Disposable {
  const stack = new DisposableStack();
  for (const part of parts) stack.use(part.start());
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

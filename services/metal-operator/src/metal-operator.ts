import { kinds } from '@metal/api/kinds.ts';
import { bootTokenKeyFrom } from '@metal/api/wire/boot-token-key.ts';
import { ControllerMetrics } from '@metal/kube/controller/metrics.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { Registry as MetricsRegistry } from 'prom-client';
import type { Metal3Service } from './metal3-service.ts';
import type { Component, MetalOperatorConfig } from './options.ts';
import {
  type MetalOperatorOptions,
  type Shared,
  type SharedWithCaches,
  startBootService,
  startDhcpService,
  startMetadataService,
  startRegistryService,
} from './services.ts';
import type { Presence } from '@metal/kube/election/presence.ts';
import { describeReadyNote, describeUnready, exportKindProblems, KindMonitor } from './kind-monitor.ts';
import {
  type Caches,
  describeUnsynced,
  kindProblemsOf,
  startCaches,
  untilKindsAllowControllers,
  watchKinds,
} from './caches.ts';
import { startControllers } from './controllers-service.ts';

/** One process of the product, with the components of its configuration. */
export interface RunningMetalOperator extends AsyncDisposable {
  /** URL that probes report to; undefined without the registry. */
  readonly registryUrl: string | undefined;
  /** URL that machines boot from; undefined without the boot service. */
  readonly bootUrl: string | undefined;
  /** URL of the metadata service; undefined without it. */
  readonly metadataUrl: string | undefined;
  /** URL that BMCs send events to; undefined without the event receiver. */
  readonly eventUrl: string | undefined;
  readonly metrics: MetricsRegistry;
  readonly client: KubeClient;
  /** Resolves when the controllers have stopped; rejects when they had to. */
  readonly stopped: Promise<void>;
  /** Leases of other operators that work on the same objects. */
  otherOperators(): readonly string[];
}

/** A process that has not started yet. Its endpoints can already serve metrics and readiness. */
export interface PreparedMetalOperator {
  readonly metrics: MetricsRegistry;
  readonly client: KubeClient;
  /** Why it cannot work yet, as a text; undefined when it has started. */
  readonly notReadyReason: string | undefined;
  /** CRDs that a process which has started works with, although they are outdated or being deleted; undefined without. */
  readonly kindNote: string | undefined;
  /** Leases of other operators that work on the same objects. */
  otherOperators(): readonly string[];
  start(): Promise<RunningMetalOperator>;
}

/** Sends no request yet. @throws KubeError when no cluster is configured */
export async function prepareMetalOperator(options: MetalOperatorOptions): Promise<PreparedMetalOperator> {
  const { clock, log, config } = options;
  const metal3Service = config.components.has('metal3') ? await import('./metal3-service.ts') : undefined;
  const metrics = new MetricsRegistry();
  const client = createKubeClient({
    kubeconfigPath: config.kubeconfigPath,
    homeCluster: config.homeCluster,
    defaultFieldManager: 'metal-operator',
    metrics,
  });
  const cacheSet = new CacheSet({ client, clock, log, metrics });
  const caches = watchKinds(cacheSet, config, metal3Service);
  const { required } = cacheSet;
  const monitored = [...kinds, ...(metal3Service?.metal3Kinds ?? [])].filter(({ plural, group }) =>
    required.includes(`${plural}.${group}`),
  );
  const kindMonitor = new KindMonitor({ client, kinds: monitored, clock, log, compared: options.comparedKinds });
  exportKindProblems(metrics, kindMonitor);
  let running: RunningMetalOperator | undefined;
  const problemsNow = () => kindProblemsOf(kindMonitor, cacheSet);
  return {
    metrics,
    client,
    get notReadyReason() {
      const reason = describeUnready(problemsNow(), running !== undefined);
      return reason ?? (running === undefined ? `it is starting: ${describeUnsynced(cacheSet)}` : undefined);
    },
    get kindNote() {
      return describeReadyNote(problemsNow());
    },
    otherOperators: () => running?.otherOperators() ?? [],
    start: async () => {
      running = await start({ ...options, metrics, client, cacheSet, caches, kindMonitor, metal3Service });
      return running;
    },
  };
}

export async function startMetalOperator(options: MetalOperatorOptions): Promise<RunningMetalOperator> {
  return (await prepareMetalOperator(options)).start();
}

interface Prepared extends MetalOperatorOptions {
  readonly metrics: MetricsRegistry;
  readonly client: KubeClient;
  readonly cacheSet: CacheSet;
  readonly caches: Caches;
  readonly kindMonitor: KindMonitor;
  /** Undefined without the component. */
  readonly metal3Service: Metal3Service | undefined;
}

/**
 * Starts the components in the order in which they need each other: caches, the services for machines, then the
 * controllers that boot machines from them. Disposing stops them in the reverse order.
 */
async function start(prepared: Prepared): Promise<RunningMetalOperator> {
  const { metrics, client, cacheSet, caches, kindMonitor, metal3Service, config } = prepared;
  await using stack = new AsyncDisposableStack();
  stack.use(client);
  const stop = new AbortController();
  stack.defer(() => cacheSet.stop());
  if (caches.operator === undefined) await cacheSet.start(stop.signal);
  else
    await startCaches({ cacheSet, kindMonitor, servers: caches.operator.servers, clock: prepared.clock, stop, stack });

  const bootTokenKey = bootTokenKeyFrom(client, config.operator.managerNamespace);
  const shared: Shared = { ...prepared, signal: stop.signal, bootTokenKey };
  const metadataUrl = caches.metadata && (await startMetadataService(withPool('boot', shared), caches.metadata, stack));
  const others =
    caches.operator === undefined
      ? noOtherServices
      : await startOtherServices(
          { ...shared, caches: caches.operator },
          { ...caches, cacheSet, kindMonitor, metal3Service },
          stack,
        );
  const { running, presence, ...urls } = others;
  const stopped =
    running ?? new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }));
  // A failure is reported through `stopped`; disposing must not throw it a second time.
  stack.defer(() => stopped.catch(() => undefined));
  stack.defer(() => stop.abort(new Error('stopping')));
  const owned = stack.move();
  const otherOperators = () => presence?.others ?? [];
  const dispose = () => owned.disposeAsync();
  return { ...urls, metadataUrl, metrics, client, stopped, otherOperators, [Symbol.asyncDispose]: dispose };
}

/** What runs beside the metadata service. */
interface OtherServices {
  readonly registryUrl: string | undefined;
  readonly bootUrl: string | undefined;
  readonly eventUrl: string | undefined;
  /** Settles when the controllers have stopped. */
  readonly running: Promise<void> | undefined;
  readonly presence: Presence | undefined;
}

const noOtherServices: OtherServices = {
  registryUrl: undefined,
  bootUrl: undefined,
  eventUrl: undefined,
  running: undefined,
  presence: undefined,
};

/** Requests that a machine waits for do not queue behind those of the controllers: machines time out. */
const withPool = <S extends Shared>(pool: 'boot' | 'report', shared: S): S => ({
  ...shared,
  client: shared.client.withPool(pool),
});

async function startOtherServices(
  shared: SharedWithCaches,
  {
    cacheSet,
    machines,
    metal3,
    metal3Service,
    kindMonitor,
  }: Pick<Prepared, 'cacheSet' | 'kindMonitor' | 'metal3Service'> & Pick<Caches, 'machines' | 'metal3'>,
  stack: AsyncDisposableStack,
): Promise<OtherServices> {
  const { config } = shared;
  const ownRegistryUrl = await startIfEnabled(config, 'registry', () =>
    startRegistryService(withPool('report', shared), stack),
  );
  const registryUrl = ownRegistryUrl ?? config.registry.url;
  const boot = await startIfEnabled(config, 'boot', () => startBootService(shared, { registryUrl, cacheSet }, stack));
  if (machines !== undefined)
    await startDhcpService({ ...shared, caches: machines }, boot ?? { url: config.boot.url }, stack);
  const bootUrl = boot?.url ?? config.boot.url;
  if (config.components.has('controllers') || metal3 !== undefined)
    await untilKindsAllowControllers({ ...shared, kindMonitor });
  const controllerMetrics = new ControllerMetrics(shared.metrics, shared.clock);
  const controllers = await startIfEnabled(config, 'controllers', () =>
    startControllers(shared, { registryUrl, bootUrl, cacheSet, controllerMetrics }, stack),
  );
  const hosts =
    metal3 &&
    metal3Service?.startMetal3Controllers(shared, { caches: metal3, cacheSet, controllerMetrics, stack }).stopped;
  return {
    registryUrl: ownRegistryUrl,
    bootUrl: boot?.url,
    eventUrl: controllers?.eventUrl,
    running: firstToStop([controllers?.stopped, hosts]),
    presence: controllers?.presence,
  };
}

/** The process ends with the first of its managers that has to. */
function firstToStop(managers: readonly (Promise<void> | undefined)[]): Promise<void> | undefined {
  const running = managers.filter((stopped) => stopped !== undefined);
  return running.length === 0 ? undefined : Promise.all(running).then(() => undefined);
}

async function startIfEnabled<T>(
  { components }: MetalOperatorConfig,
  component: Component,
  startComponent: () => Promise<T>,
): Promise<T | undefined> {
  return components.has(component) ? startComponent() : undefined;
}

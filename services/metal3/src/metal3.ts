import { metal3LeaseName } from '@metal/api/metal3/metal3-contract.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import type { Controller } from '@metal/kube/controller/definition.ts';
import { runManager } from '@metal/kube/controller/manager.ts';
import type { ControllerMetrics } from '@metal/kube/controller/metrics.ts';
import { Leadership, type LeaderElectionOptions } from '@metal/kube/election/leadership.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { BackEnds } from './back-ends.ts';
import type { Metal3Caches } from './caches.ts';
import type { Metal3Context } from './context.ts';
import { controllersFor } from './controllers.ts';
import { HostMetrics } from './host-metrics.ts';
import { FirmwareReads } from './objects/firmware-reads.ts';
import type { BackEndName, Metal3Config } from './options.ts';
import type { BackEnd } from './provisioner/back-end.ts';

export interface Metal3Options {
  readonly config: Metal3Config;
  readonly client: KubeClient;
  readonly cacheSet: CacheSet;
  /** The watches of this set that `watchMetal3Kinds` declares. */
  readonly caches: Metal3Caches;
  /** Those that this process has. */
  readonly backEnds: Readonly<Partial<Record<BackEndName, BackEnd>>>;
  /** Only the leader works; undefined: this process is the only one. */
  readonly leaderElection: Omit<LeaderElectionOptions, 'leaseName'> | undefined;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Of the process, where it has another manager. */
  readonly controllerMetrics?: ControllerMetrics | undefined;
  /** Stops the controllers, as disposing does. */
  readonly signal?: AbortSignal | undefined;
}

/** Disposing stops the controllers. */
export interface RunningMetal3 extends AsyncDisposable {
  /** Resolves when the controllers have stopped; rejects when they had to, for example with LeaseLost. */
  readonly stopped: Promise<void>;
}

/** How long running reconciles may take to finish. */
const gracePeriodMs = 8_000;

/** Starts the controllers of BareMetalHosts and of their sibling kinds. */
export function startMetal3(options: Metal3Options): RunningMetal3 {
  const { client, cacheSet, clock, metrics, controllerMetrics, leaderElection } = options;
  const log = options.log.child({ part: 'metal3' });
  const stop = new AbortController();
  const stopped = runManager({
    controllers: controllersFor(options.config).map(withFieldManager),
    caches: cacheSet,
    client,
    context: contextOf(options),
    clock,
    log,
    registry: metrics,
    controllerMetrics,
    signal: AbortSignal.any([stop.signal, ...(options.signal === undefined ? [] : [options.signal])]),
    gracePeriodMs,
    leadership:
      leaderElection &&
      new Leadership({ options: { ...leaderElection, leaseName: metal3LeaseName }, client, clock, log }),
  });
  const dispose = async () => {
    stop.abort(new Error('stopping'));
    // A failure is reported through `stopped`; disposing must not throw it a second time.
    await stopped.catch(() => undefined);
  };
  return { stopped, [Symbol.asyncDispose]: dispose };
}

const contextOf = ({ client, caches, clock, random, config, backEnds, metrics }: Metal3Options): Metal3Context => ({
  client,
  caches,
  clock,
  random,
  config,
  backEnds: new BackEnds(backEnds, config.provisioner),
  hostMetrics: new HostMetrics(metrics),
  firmwareReads: new FirmwareReads(),
});

/** Each controller writes under a field manager of its own. */
const withFieldManager = (controller: Controller<Metal3Context>): Controller<Metal3Context> => ({
  ...controller,
  start: (runtime, context) => {
    const client = context.client.withFieldManager(fieldManagerOf(controller.name));
    return controller.start(runtime, { ...context, client });
  },
});

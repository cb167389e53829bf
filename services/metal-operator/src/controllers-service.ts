import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { ControllerMetrics } from '@metal/kube/controller/metrics.ts';
import type { Presence } from '@metal/kube/election/presence.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import { startOperator } from '@metal/operator/operator.ts';
import { exportFleet, exportTraffic } from './metrics/metrics.ts';
import { exportShardMetrics } from './metrics/shard-metrics.ts';
import { exportOtherOperators, presenceOf } from './other-operators.ts';
import { type SharedWithCaches, startEventsService } from './services.ts';

interface RunningControllers {
  readonly eventUrl: string | undefined;
  readonly stopped: Promise<void>;
  readonly presence: Presence;
}

/** The operator, with the event receiver in front of it and the metrics of the fleet beside it. */
export async function startControllers(
  shared: SharedWithCaches,
  {
    registryUrl,
    bootUrl,
    ...manager
  }: { registryUrl: string; bootUrl: string; cacheSet: CacheSet; controllerMetrics: ControllerMetrics },
  stack: AsyncDisposableStack,
): Promise<RunningControllers> {
  const { caches, clock, metrics } = shared;
  const { operator, registry, boot, events, leaderElect, lease } = shared.config;
  const { isRefusedAddress } = boot.imageSources;
  const bmcEvents = new KeyNotifier();
  const eventUrl = events.url && (await startEventsService(shared, events.url, bmcEvents, stack));
  const { scheduler, membership, stopped } = stack.use(
    await startOperator({
      ...shared,
      config: { ...operator, eventUrl },
      leaderElect,
      lease,
      ...manager,
      registry: { url: registryUrl, auth: registry.auth, caPem: registry.caPem },
      firmwareImages: { bootUrl: bootUrl === '' ? undefined : bootUrl, isRefusedAddress },
      bmcEvents,
      traffic: exportTraffic(metrics, caches),
    }),
  );
  stack.use(exportFleet(metrics, { caches, scheduler, clock }));
  exportShardMetrics(metrics, { membership, caches });
  const presence = stack.use(presenceOf(shared).start());
  exportOtherOperators(metrics, presence);
  return { eventUrl, stopped, presence };
}

import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { TrafficObserver } from '@metal/operator/bmc-connections/bmc-client-factory.ts';
import type { OperatorCaches } from '@metal/operator/caches.ts';
import type { ClaimScheduler } from '@metal/operator/scheduling/scheduler.ts';
import { Counter, type Registry } from 'prom-client';
import { exportBmcs } from './bmc-states.ts';
import { BmcTraffic } from './bmc-traffic.ts';
import { exportCleanups } from './cleanups.ts';
import { exportClaims } from './claim-metrics.ts';
import { observeDurations } from './durations.ts';
import { exportServers } from './server-metrics.ts';
import { exportServerReconciles } from './server-reconciles.ts';

export interface MetricsSources {
  readonly caches: Pick<OperatorCaches, 'servers' | 'claims' | 'bmcs' | 'erasures'>;
  readonly scheduler: Pick<ClaimScheduler, 'bindConflict'>;
  readonly clock: Clock;
}

/** Counts requests to BMCs. To be passed to the connection pool. */
export const exportTraffic = (registry: Registry, caches: MetricsSources['caches']): TrafficObserver =>
  new BmcTraffic(registry, (name) => isKnown(name, caches));

/**
 * Everything that is measured of the fleet, beside what the reconcile loop measures of its controllers. Controllers do not
 * count anything: the values are read from the caches and from the scheduler.
 */
export function exportFleet(registry: Registry, { caches, scheduler, clock }: MetricsSources): Disposable {
  exportServers(registry, caches.servers);
  exportServerReconciles(registry);
  exportClaims(registry, caches.claims);
  exportBmcs(registry, caches.bmcs);
  const stack = new DisposableStack();
  stack.use(observeDurations(registry, { ...caches, clock }));
  stack.use(exportCleanups(registry, { ...caches, clock }));
  const conflicts = new Counter({
    name: 'metal_claim_conflicts_total',
    help: "Servers that were chosen for a claim and were somebody else's by the time of the binding",
    registers: [registry],
  });
  stack.use(scheduler.bindConflict.on(() => conflicts.inc()));
  return stack;
}

/** Connections have the name of the BMC object, or `server/<name>` where a Server has an inline BMC. */
function isKnown(name: string, { bmcs, servers }: MetricsSources['caches']): boolean {
  return name.startsWith('server/')
    ? servers.get(name.slice('server/'.length)) !== undefined
    : bmcs.get(name) !== undefined;
}

import { metal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { builtInBackEnds } from '@metal/metal3/built-in-back-ends.ts';
import { type Metal3Caches, watchMetal3Kinds } from '@metal/metal3/caches.ts';
import { type Metal3Options, type RunningMetal3, startMetal3 } from '@metal/metal3/metal3.ts';
import type { SharedWithCaches } from './services.ts';

/** This module is loaded only with the component: its kinds and controllers are 180 others. */
export type Metal3Service = typeof import('./metal3-service.ts');

export { metal3Kinds, watchMetal3Kinds };

/** The controllers of BareMetalHosts have a lease of their own, which the baremetal-operator of Metal3 takes too. */
export function startMetal3Controllers(
  shared: SharedWithCaches,
  {
    stack,
    ...manager
  }: Pick<Metal3Options, 'cacheSet' | 'controllerMetrics'> & { caches: Metal3Caches; stack: AsyncDisposableStack },
): RunningMetal3 {
  const { config, identity, hostBackEnds } = shared;
  const { caches, client, clock, random, log, metrics, signal } = shared;
  const namespace = config.operator.managerNamespace;
  const running = startMetal3({
    config: config.metal3,
    client,
    clock,
    random,
    log,
    metrics,
    signal,
    ...manager,
    backEnds:
      hostBackEnds ??
      builtInBackEnds(
        {
          config: config.metal3,
          caches: { ...caches, ...hostCachesOf(manager.caches) },
          client,
          fleetDisks: config.operator.cleanupDisks,
          publishesFirmware: config.operator.publishesFirmware,
          clock,
          random,
        },
        stack,
      ),
    leaderElection: config.leaderElect ? { namespace, identity, ...config.lease } : undefined,
  });
  return stack.use(running);
}

const hostCachesOf = ({ hosts, firmwareComponents }: Metal3Caches) => ({ hosts, firmwareComponents });

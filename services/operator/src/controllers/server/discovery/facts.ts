import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { allowInterruptionAnnotation } from '@metal/api/wire/contract.ts';
import { isInternalBoot } from '@metal/api/wire/internal-boot.ts';
import type { OperatorContext } from '../../context.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { bootFactsOf, isProbeBootOf, awaitsStart } from '../boot/configuration-facts.ts';
import type { ServerFacts } from '../types.ts';
import type { OperationFacts } from '../operations/facts.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

export type DiscoveryFacts = Pick<
  ServerFacts,
  | 'mayInterrupt'
  | 'discoveryTimeoutMs'
  | 'discoveryAttempts'
  | 'maxDiscoveryAttempts'
  | 'probeBoot'
  | 'bootReferenced'
  | 'foreignProbeBoot'
  | 'report'
  | 'inventory'
>;

export function discoveryFacts(
  server: Server,
  operation: OperationFacts,
  memory: ObservedSystem,
  { caches, config }: OperatorContext,
  now: number,
): DiscoveryFacts {
  const probeBoot = caches.bootConfigurations.get({ namespace: config.managerNamespace, name: server.metadata.name });
  const probeBootIsOurs = probeBoot !== undefined && isProbeBootOf(probeBoot, server);
  const isPending = probeBootIsOurs && awaitsStart(probeBoot, server, memory);
  const found = caches.inventories.get(server.metadata.name);
  const isNew = isFresh(found, probeBootIsOurs ? probeBoot : undefined, server);
  const isEarly = isNew && isPending;
  const inventory = isEarly ? undefined : found;
  const isRestart = operation.kind === 'retry' || operation.kind === 'rediscover';
  const discoveryAttempts = isRestart ? 0 : (server.status?.discoveryAttempts ?? 0);
  return {
    // A probe boot was made for it while it was off: what runs now was started here.
    mayInterrupt: config.enforceFirstBoot || discoveryAttempts > 0 || probeBootIsOurs || isOurs(server, inventory),
    discoveryTimeoutMs: config.discoveryTimeoutMs,
    discoveryAttempts,
    maxDiscoveryAttempts: config.discoveryAttempts,
    probeBoot: probeBootIsOurs ? bootFactsOf(probeBoot, server, now, { awaitsStart: isPending }) : undefined,
    bootReferenced: server.spec.bootConfigurationRef !== undefined,
    foreignProbeBoot:
      probeBoot === undefined || probeBootIsOurs ? 'none' : isInternalBoot(probeBoot) ? 'stale' : 'taken',
    report: isEarly ? 'early' : isNew ? 'fresh' : 'absent',
    inventory,
  };
}

/** Of the boot of this attempt. That may be gone already: what was received since the attempt began, had a token of it. */
function isFresh(
  inventory: ServerInventory | undefined,
  probeBoot: ServerBootConfiguration | undefined,
  { status }: Server,
): boolean {
  if (inventory === undefined) return false;
  const { bootConfigurationUID, receivedTime } = inventory.spec;
  if (probeBoot !== undefined) return bootConfigurationUID === probeBoot.metadata.uid;
  const { state, stateSince = '' } = status ?? {};
  return state === 'Discovery' && Date.parse(receivedTime) >= Date.parse(stateSince);
}

/** Discovered here before and held by nobody since, or given free by a person. */
function isOurs({ metadata }: Server, inventory: ServerInventory | undefined): boolean {
  const discovered = inventory?.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false;
  return discovered || metadata.annotations?.[allowInterruptionAnnotation] === 'true';
}

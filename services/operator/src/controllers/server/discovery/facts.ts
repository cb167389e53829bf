import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { adoptingClaimOf } from '@metal/api/wire/adoption.ts';
import { allowInterruptionAnnotation } from '@metal/api/wire/contract.ts';
import { isInternalBoot } from '@metal/api/wire/internal-boot.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { OperatorContext } from '../../context.ts';
import { inventoryOf } from '../cleanup/disks.ts';
import { awaitsStart, type BootFacts, bootFactsOf, isProbeBootOf } from '../boot/configuration-facts.ts';
import type { OperationFacts } from '../operations/facts.ts';

export interface DiscoveryFacts {
  /** A machine that is found running may be powered off. */
  readonly mayInterrupt: boolean;
  readonly discoveryTimeoutMs: number;
  readonly discoveryAttempts: number;
  readonly maxDiscoveryAttempts: number;
  readonly probeBoot: BootFacts | undefined;
  /**
   * Another object has the name of the probe boot. stale: it belongs to an earlier Server of this name, or is being deleted.
   * taken: it is no internal boot, for example the boot configuration of a claim with the name of the server.
   */
  readonly foreignProbeBoot: 'none' | 'stale' | 'taken';
  /** early: it carries the token of this boot, although the machine was not started since the boot was prepared. */
  readonly report: 'absent' | 'early' | 'fresh';
  /** The last report of the probe; an early one does not count. */
  readonly inventory: ServerInventory | undefined;
  /** A claim took the machine over as it was: no probe has reported its hardware yet. */
  readonly isUndiscovered: boolean;
}

type Context = Pick<OperatorContext, 'caches' | 'config'>;

export function discoveryFacts(
  server: Server,
  operation: OperationFacts,
  memory: ObservedSystem,
  context: Context,
  now: number,
): DiscoveryFacts {
  const { config } = context;
  const named = namesakeOf(server, context);
  const probeBoot = probeBootOf(server, context);
  const isRestart = operation.kind === 'retry' || operation.kind === 'rediscover';
  const discoveryAttempts = isRestart ? 0 : (server.status?.discoveryAttempts ?? 0);
  const { report, inventory } = probeReportOf(server, memory, context);
  return {
    // A probe boot is prepared while the machine is off: the operator itself started what runs now.
    mayInterrupt:
      config.enforceFirstBoot || discoveryAttempts > 0 || probeBoot !== undefined || isOurs(server, inventory),
    discoveryTimeoutMs: config.discoveryTimeoutMs,
    discoveryAttempts,
    maxDiscoveryAttempts: config.discoveryAttempts,
    probeBoot: probeBoot && bootFactsOf(probeBoot, server, now, { awaitsStart: awaitsStart(memory) }),
    foreignProbeBoot:
      named === undefined || probeBoot !== undefined ? 'none' : isInternalBoot(named) ? 'stale' : 'taken',
    report,
    inventory,
    isUndiscovered: inventory === undefined && adoptingClaimOf(server) !== undefined,
  };
}

const namesakeOf = ({ metadata: { name } }: Server, { caches, config }: Context): ServerBootConfiguration | undefined =>
  caches.bootConfigurations.get({ namespace: config.managerNamespace, name });

/** The boot configuration of the present attempt at a discovery or a cleanup. */
export function probeBootOf(server: Server, context: Context): ServerBootConfiguration | undefined {
  const named = namesakeOf(server, context);
  return named !== undefined && isProbeBootOf(named, server) ? named : undefined;
}

export function probeReportOf(
  server: Server,
  memory: ObservedSystem,
  context: Context,
): Pick<DiscoveryFacts, 'report' | 'inventory'> {
  const inventory = inventoryOf(server, context.caches.inventories.get(server.metadata.name));
  const probeBoot = probeBootOf(server, context);
  if (!isFresh(inventory, probeBoot, server)) return { report: 'absent', inventory };
  return probeBoot !== undefined && awaitsStart(memory)
    ? { report: 'early', inventory: undefined }
    : { report: 'fresh', inventory };
}

/** The report of this attempt. If its boot configuration is gone, the time decides: the token was of this attempt. */
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

/** It was discovered before as this Server, or a person allows the interruption. */
function isOurs({ metadata }: Server, inventory: ServerInventory | undefined): boolean {
  return inventory !== undefined || metadata.annotations?.[allowInterruptionAnnotation] === 'true';
}

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { OperatorContext } from '../context.ts';
import { bmcFacts } from './bmc/facts.ts';
import { currentBootFacts } from './boot/facts.ts';
import { evictionFacts } from './claim/eviction-facts.ts';
import { claimFacts } from './claim/facts.ts';
import { cleanupFacts } from './cleanup/facts.ts';
import { cleanupFailure } from './cleanup/failure.ts';
import { decommissionFacts } from './decommissioning/facts.ts';
import { deletionFacts } from './deletion/facts.ts';
import { deploymentFacts } from './deployment/facts.ts';
import { discoveryFacts } from './discovery/facts.ts';
import { discoveryFailure } from './discovery/failure.ts';
import { hardwareFacts } from './discovery/hardware-facts.ts';
import { versionFacts } from './discovery/version-facts.ts';
import { duplicateFacts } from './duplicates/facts.ts';
import { healthFacts } from './health/facts.ts';
import { maintenanceFailure } from './maintenance/failure.ts';
import { maintenanceFacts, maintenanceOf } from './maintenance/facts.ts';
import { updateMemory } from './memory.ts';
import { operationsFacts } from './operations/facts.ts';
import { powerFacts } from './power/facts.ts';
import { powerFailure } from './power/failure.ts';
import type { ServerReason } from './reasons.ts';
import { replacementOf } from './replacement/facts.ts';
import { settingsFacts } from './settings/facts.ts';
import type { Failure, ServerFacts, ServerPhase } from './types.ts';

/** Everything that the table decides by. The memory is brought up to date first; the facts of each folder only read. */
export function readServerFacts(
  server: Server,
  context: OperatorContext,
  { now, inPhaseForMs }: { now: number; inPhaseForMs: number },
): ServerFacts {
  const { caches } = context;
  const bmc = bmcFacts(server, context);
  const memory = updateMemory(server, bmc.connection, context);
  const power = powerFacts(server, memory, now, context);
  const operations = operationsFacts(server, memory);
  const discovery = discoveryFacts(server, operations.operation, memory, context, now);
  const health = healthFacts(server, memory, now);
  const maintenance = maintenanceFacts(server, { caches, memory, health: health.health, now });
  const cleanup = cleanupFacts(server, { memory, context, now });
  return {
    ...bmc,
    ...power,
    ...currentBootFacts(server, memory, context, now),
    ...hardwareFacts(server, memory, now),
    ...versionFacts(server, memory, caches),
    ...health,
    ...discovery,
    ...operations,
    ...settingsFacts(server, maintenanceOf(server, caches), memory),
    inPhaseForMs,
    failure: failureOf(server, { ...discovery, ...power, cleanup, maintenance }),
    claim: claimFacts(server, memory, caches, now),
    deployment: deploymentFacts(server, memory, context, { now, inPhaseForMs }),
    eviction: evictionFacts(server, memory, context, now),
    reclaim: server.spec.reclaimPolicy === 'Retain' ? 'Retain' : 'Recycle',
    cleanup,
    maintenance,
    parts: memory.parts?.value,
    stateBeforeMaintenance: server.status?.stateBeforeMaintenance,
    duplicate: duplicateFacts(server, memory, caches.servers),
    decommission: decommissionFacts(server, memory, context),
    replacement: replacementOf(server),
    deletion: deletionFacts(server, memory, bmc, discovery),
  };
}

type FailureFacts = Parameters<typeof discoveryFailure>[0] &
  Parameters<typeof powerFailure>[0] &
  Parameters<typeof cleanupFailure>[0] &
  Parameters<typeof maintenanceFailure>[0];

const failureOf = (server: Server, facts: FailureFacts): Failure | undefined =>
  discoveryFailure(facts) ??
  powerFailure(facts) ??
  cleanupFailure(facts) ??
  maintenanceFailure(facts) ??
  recordedFailure(server);

const knownStates: ReadonlySet<string> = new Set<ServerPhase | ''>([
  '',
  'Initial',
  'Discovery',
  'Available',
  'Reserved',
  'Released',
  'Cleanup',
  'Maintenance',
  'Parked',
  'Decommissioning',
  'Decommissioned',
  'Error',
]);

/** Used only where no failure is observed now: the status holds what earlier reconciles found. */
function recordedFailure({ status }: Server): Failure | undefined {
  if (status?.state !== undefined && !knownStates.has(status.state))
    return { reason: 'UnknownState', message: `status.state "${status.state}" is not known to this version` };
  const { reason, message } = status?.failure ?? {};
  // Only this controller writes the field, with reasons of its catalogue.
  return reason === undefined || message === undefined ? undefined : { reason: reason as ServerReason, message };
}

import type { Server } from '@metal/api/v1alpha1/server.ts';
import { parkedAnnotation } from '@metal/api/wire/contract.ts';
import type { OperatorContext } from '../context.ts';
import { wasIncomplete } from '../inventory-condition.ts';
import { claimFacts } from './claim/facts.ts';
import { cleanupFacts } from './cleanup/facts.ts';
import { duplicateFacts } from './duplicates/facts.ts';
import { type PowerFacts, powerFacts } from './power/facts.ts';
import type { ServerReason } from './reasons.ts';
import type { ServerPhase, Failure, ServerFacts } from './types.ts';
import { operationFacts } from './operations/facts.ts';
import { bootOrderFacts, lightFacts } from './settings/facts.ts';
import { bmcFacts } from './bmc/facts.ts';
import { evictionFacts } from './claim/eviction-facts.ts';
import { discoveryFacts } from './discovery/facts.ts';
import { isInForce, bootMethodOf, pendingBootUidOf } from './boot/facts.ts';
import { deletionFacts } from './deletion/facts.ts';
import { cleanupFailure } from './cleanup/failure.ts';
import { unreportedHardware } from './discovery/hardware-facts.ts';
import { maintenanceFacts, maintenanceOf } from './maintenance/facts.ts';

export function readServerFacts(
  server: Server,
  context: OperatorContext,
  { now, inPhaseForMs }: { now: number; inPhaseForMs: number },
): ServerFacts {
  const { bmcConnections, caches, config } = context;
  const memory = bmcConnections.observedSystem(server.metadata.uid ?? '');
  const machine = bmcFacts(server, context);
  const power = powerFacts(server, memory, now, context);
  const operation = operationFacts(server, memory);
  const discovery = discoveryFacts(server, operation, memory, context, now);
  const cleanup = cleanupFacts(server, { memory, context, now });
  const hardware = unreportedHardware(server, memory, discovery.inventory?.spec.report);
  return {
    ...machine,
    ...power,
    duplicate: duplicateFacts(server, memory, caches.servers),
    hardware,
    hardwareIncomplete: hardware === undefined ? wasIncomplete(server) : hardware.missing.length > 0,
    hardwareSeenMsAgo: memory.inventory === undefined ? undefined : now - memory.inventory.at,
    led: memory.state?.value.indicatorLED,
    bootTargets: memory.state?.value.override.targets,
    bootMethod: bootMethodOf(server, context),
    light: lightFacts(server, maintenanceOf(server, caches), memory),
    bootOrder: bootOrderFacts(server, memory),
    seenBootOrder: memory.state?.value.bootOrder,
    overrideSeen: isInForce(memory.state?.value.override),
    inventoryRead:
      hardware !== undefined || server.status?.processors !== undefined || server.status?.manufacturer !== undefined,
    inPhaseForMs,
    ...discovery,
    pendingBootUid: pendingBootUidOf(server, memory, context),
    bootRenewedMsAgo: memory.bootRenewedAt === undefined ? undefined : now - memory.bootRenewedAt,
    operation,
    parked: server.metadata.annotations?.[parkedAnnotation] !== undefined,
    parkDeferralReported: memory.parkDeferredIn === (server.status?.state ?? ''),
    maintenance: maintenanceFacts(server, caches, now),
    stateBeforeMaintenance: server.status?.stateBeforeMaintenance,
    failure: failureOf(server, { ...discovery, ...power, cleanup }),
    cleanup,
    claim: claimFacts(server, memory, caches, now),
    eviction: evictionFacts(server, memory, context, now),
    reclaim: server.spec.reclaimPolicy === 'Retain' ? 'Retain' : 'Recycle',
    enforcePowerOff: config.enforcePowerOff,
    deletion: deletionFacts(server, memory, machine, discovery),
  };
}

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
  'Error',
]);

/** Counters first: they are observed. What was written down is what earlier ones came to. */
function failureOf(
  { status }: Server,
  facts: Pick<ServerFacts, 'discoveryAttempts' | 'maxDiscoveryAttempts' | 'cleanup'> & PowerFacts,
): Failure | undefined {
  const { discoveryAttempts, maxDiscoveryAttempts, transition, maxPowerAttempts, power } = facts;
  if (discoveryAttempts >= maxDiscoveryAttempts) {
    return {
      reason: 'DiscoveryFailed',
      message: `${discoveryAttempts} discovery attempts brought no report; the events tell how far each came`,
    };
  }
  if (transition !== undefined && transition.attempts >= maxPowerAttempts) {
    return {
      reason: 'PowerStuck',
      message: `the BMC was asked for power ${transition.target} ${transition.attempts} times since ${transition.since} and still reports ${power}`,
    };
  }
  const cleanupFailed = cleanupFailure(facts);
  if (cleanupFailed !== undefined) return cleanupFailed;
  if (status?.state !== undefined && !knownStates.has(status.state))
    return { reason: 'UnknownState', message: `status.state "${status.state}" is not known to this version` };
  const { reason, message } = status?.failure ?? {};
  // Only this controller writes the field, with words of its catalogue.
  return reason === undefined || message === undefined ? undefined : { reason: reason as ServerReason, message };
}

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import {
  allowInterruptionAnnotation,
  operationAnnotation,
  operations,
  parkedAnnotation,
} from '@metal/api/wire/contract.ts';
import { isInternalBoot } from '@metal/api/wire/internal-boot.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import { evictionOf } from '../../scheduling/eligibility.ts';
import type { OperatorContext } from '../context.ts';
import type { ObservedSystem } from '../../bmc-connections/observed-state.ts';
import { wasIncomplete } from '../inventory-condition.ts';
import { bootFactsOf, isProbeBootOf } from './claim/boot-facts.ts';
import { claimFacts, awaitsStart } from './claim/facts.ts';
import { cleanupFailure } from './cleanup/steps.ts';
import { cleanupFacts } from './cleanup/facts.ts';
import { duplicateFacts } from './duplicate-facts.ts';
import { unreportedHardware } from './discovery/hardware.ts';
import { type BmcFacts, bmcFacts, type PowerFacts, powerFacts } from './power/facts.ts';
import type { ServerReason } from './reasons.ts';
import type { ServerPhase, Failure, ServerFacts, EvictionFacts, DeletionFacts } from './types.ts';
import {
  bootOrderFacts,
  lightFacts,
  maintenanceFacts,
  maintenanceOf,
  type OperationFacts,
  operationFacts,
} from './desired-state.ts';

/** Tells one eviction of a server from another. */
export const evictionKey = (claimUid: string, { taint, since }: Pick<EvictionFacts, 'taint' | 'since'>): string =>
  [claimUid, since, taint].join(' ');

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

const isInForce = (override: SystemState['override'] | undefined): boolean =>
  (override?.enabled === 'Once' || override?.enabled === 'Continuous') &&
  override.target !== undefined &&
  override.target !== 'None';

function bootMethodOf(server: Server, { caches }: OperatorContext): string | undefined {
  const ref = currentBootRef(server);
  return ref && caches.bootConfigurations.get(ref)?.status?.boot?.method;
}

function pendingBootUidOf(server: Server, memory: ObservedSystem, { caches }: OperatorContext): string | undefined {
  const boot = caches.bootConfigurations.get(server.spec.bootConfigurationRef ?? '');
  return boot !== undefined && awaitsStart(boot, server, memory) ? boot.metadata.uid : undefined;
}

type DiscoveryFacts = Pick<
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

function discoveryFacts(
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

function evictionFacts(
  server: Server,
  { evictionVerified }: ObservedSystem,
  { caches, config }: OperatorContext,
  now: number,
): EvictionFacts | undefined {
  const ref = server.spec.serverClaimRef;
  const claim = ref === undefined || ref.evicted === true ? undefined : caches.claims.get(ref);
  if (claim === undefined || claim.metadata.uid !== ref?.uid) return undefined;
  const eviction = evictionOf(server, claim, caches.readinessRules.all());
  if (eviction === undefined) return undefined;
  const { taint, rule } = eviction;
  const since = server.status?.evictionSince ?? new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const identity = { taint: rule === undefined ? taint.key : `${taint.key} of rule ${rule}`, since };
  return {
    ...identity,
    dueInMs: Date.parse(since) + config.evictionGraceMs - now,
    verified: evictionVerified === evictionKey(ref?.uid ?? '', identity),
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

function deletionFacts(
  { metadata, spec, status }: Server,
  { deletionReported }: ObservedSystem,
  { bmc }: BmcFacts,
  { probeBoot }: DiscoveryFacts,
): DeletionFacts {
  const allowed = metadata.annotations?.[operationAnnotation] === operations.allowInProgressDelete;
  return {
    heldByMaintenance:
      status?.state === 'Maintenance' && spec.serverMaintenanceRef !== undefined && bmc.exists && !allowed,
    bootsLeft: probeBoot !== undefined || spec.bootConfigurationRef !== undefined || spec.biosSettingsRef !== undefined,
    deletionReported,
  };
}

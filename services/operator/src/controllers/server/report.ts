import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { condition, type Explanation, readyCondition, type ReportedCondition } from '../ready-condition.ts';
import { retryLoginHint } from '../../bmc-connections/rejected-login.ts';
import { inventoryCondition } from '../inventory-condition.ts';
import { cleanupStatus } from './cleanup/report.ts';
import { hardwareFields, networkInterfacesBefore, networkInterfacesOf } from './discovery/hardware.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import type { ServerFacts, ServerPhase } from './types.ts';
import type { SettingFacts } from './desired-state.ts';

/** Decisions that stand for "as it should be": the machine is what its claim, or the lack of one, asks for. */
const readyMessages: Record<string, string> = {
  Available: 'off and free to be claimed',
  ClaimServed: 'as its claim asks',
  KeptForReview: 'released and off; kept until spec.serverClaimRef is cleared',
  Parked: 'parked and off',
  MaintenanceServed: 'as its maintenance asks',
};

export function reportServer(server: Server, facts: ServerFacts, outcome: Outcome<ServerPhase>): StatusReport {
  return {
    fields: {
      ...hardwareFields(server, facts),
      networkInterfaces:
        facts.inventory === undefined
          ? networkInterfacesBefore(server, facts)
          : networkInterfacesOf(facts.inventory.spec.report),
      powerState: facts.powerSeenMsAgo === undefined ? server.status?.powerState : facts.power,
      state: outcome.phase,
      stateSince: outcome.phaseSince,
      pendingBootUID: facts.pendingBootUid,
      bootOrder: firstBootOrder(server, facts, outcome.phase),
      discoveryAttempts: attemptsAfter(server, facts, outcome.phase),
      ...provisioningFields(server, facts, outcome),
      stateBeforeMaintenance: stateBefore(server, outcome.phase),
      evictionSince: facts.eviction?.since,
      cleanup: cleanupStatus(server, facts, outcome),
      failure: outcome.phase === 'Error' ? facts.failure : undefined,
      rejectedLogin: facts.rejectedLogin,
    },
    conditions: [
      readyCondition(server, outcome, readyExplanation(outcome)),
      reachableCondition(server, facts),
      discoveredCondition(server, facts, outcome.phase),
      ...inventoryCondition(server, facts.hardware?.missing),
      ...powerConditions(server, facts),
      ...settingConditions(server, facts),
      ...uniqueCondition(server, facts),
    ],
  };
}

/**
 * What has booted, remembered for as long as the claim holds the server. It is forgotten when the machine is off and about
 * to boot anew; in the same write the request counts as taken up, so that whoever comes later does not begin again.
 */
function provisioningFields({ status }: Server, { claim }: ServerFacts, { decision }: Outcome<ServerPhase>) {
  if (claim.binding !== 'bound') return {};
  const { uid, boot, provisioned, reprovision, stopped } = claim;
  const stoppedClaimUID = stopped ? uid : undefined;
  const { provisionedClaimUID, servedReprovision } = status ?? {};
  if (!reprovision) return { provisionedClaimUID: provisioned ? uid : undefined, servedReprovision, stoppedClaimUID };
  if (decision.reason !== 'Reprovisioning') return { provisionedClaimUID, servedReprovision, stoppedClaimUID };
  return { servedReprovision: boot?.request, stoppedClaimUID };
}

/** As it was before anybody had the machine: what is seen later may be the work of a claim. */
function firstBootOrder({ status }: Server, { seenBootOrder, cleanup, claim }: ServerFacts, phase: ServerPhase) {
  const isFirst = (phase === 'Initial' || phase === 'Discovery') && !cleanup.needed && claim.binding === 'unbound';
  const seen = isFirst && (seenBootOrder?.length ?? 0) > 0 ? seenBootOrder : undefined;
  return status?.bootOrder ?? seen;
}

function stateBefore({ status }: Server, phase: ServerPhase): string | undefined {
  if (phase !== 'Maintenance') return undefined;
  return status?.state === 'Maintenance' ? status.stateBeforeMaintenance : status?.state;
}

function readyExplanation({ decision, error }: Outcome<ServerPhase>): Explanation | undefined {
  if (error !== undefined || decision.kind !== 'wait' || decision.reason === undefined) return undefined;
  const message = readyMessages[decision.reason];
  return message === undefined ? undefined : { reason: decision.reason, message: decision.message ?? message };
}

const discoveredPhases: readonly ServerPhase[] = ['Available', 'Reserved', 'Released', 'Cleanup'];

/** Counts entries into Discovery since the last success, so that a server that never reports ends in Error. */
function attemptsAfter({ status }: Server, { discoveryAttempts }: ServerFacts, phase: ServerPhase): number {
  if (phase === 'Discovery') return status?.state === 'Discovery' ? discoveryAttempts : discoveryAttempts + 1;
  return discoveredPhases.includes(phase) ? 0 : discoveryAttempts;
}

function discoveredCondition(server: Server, { inventory }: ServerFacts, phase: ServerPhase): ReportedCondition {
  if (discoveredPhases.includes(phase) || inventory !== undefined)
    return condition(server, 'Discovered', 'True', {
      reason: 'InventoryReported',
      message: 'the probe reported the hardware',
    });
  return condition(server, 'Discovered', 'False', {
    reason: phase === 'Error' ? 'DiscoveryFailed' : 'NotYetReported',
    message: 'no report of the probe yet',
  });
}

function reachableCondition(server: Server, { bmc, rejectedLogin }: ServerFacts): ReportedCondition {
  if (rejectedLogin !== undefined)
    return condition(server, 'BMCReachable', 'False', {
      reason: 'AuthenticationFailed',
      message: `${rejectedLogin.message}; ${retryLoginHint}`,
    });
  if (bmc.isReachable)
    return condition(server, 'BMCReachable', 'True', { reason: 'Connected', message: 'the BMC of the server answers' });
  return condition(server, 'BMCReachable', 'False', { reason: bmc.reason, message: bmc.message });
}

/** Said on all of them, so that the one that works does not hide the mistake. */
function uniqueCondition(server: Server, { duplicate }: ServerFacts): ReportedCondition[] {
  const type = 'SystemUUIDUnique';
  if (duplicate !== undefined)
    return [condition(server, type, 'False', { reason: 'DuplicateSystemUUID', message: duplicate.message })];
  const known = server.status?.conditions?.some((existing) => existing.type === type) ?? false;
  return known ? [condition(server, type, 'True', { reason: 'Unique', message: 'no other Server has it' })] : [];
}

function settingConditions(server: Server, { light, bootOrder }: ServerFacts): ReportedCondition[] {
  return [
    ...settingCondition(server, 'LocatorLightApplied', light),
    ...settingCondition(server, 'BootOrderApplied', bootOrder),
  ];
}

/** Only where something is wanted. */
function settingCondition(
  server: Server,
  type: string,
  { desired, isDone, rejection }: SettingFacts,
): ReportedCondition[] {
  if (desired === undefined) return [];
  if (rejection !== undefined)
    return [condition(server, type, 'False', { reason: 'RefusedByBMC', message: `${desired}: ${rejection}` })];
  if (!isDone) return [];
  return [condition(server, type, 'True', { reason: 'AsWanted', message: desired })];
}

/** The two power conditions of v0.7.0, with a coherent False. They appear with the first change of power. */
function powerConditions(server: Server, { transition, power }: ServerFacts): ReportedCondition[] {
  const poweringOn = transition?.target === 'On';
  const poweringOff = transition?.target === 'Off';
  return [
    ...powerCondition(
      server,
      'PoweringOn',
      poweringOn,
      { reason: 'ServerPowerOn', message: 'Server is powering on' },
      { reason: 'NotPoweringOn', message: 'no power-on is under way' },
    ),
    ...powerCondition(
      server,
      'WaitingForPowerOff',
      poweringOff,
      { reason: 'WaitingForPowerOff', message: `Waiting for BMC to confirm power off (current: "${power}")` },
      { reason: 'PowerOffConfirmed', message: 'BMC confirmed PowerState=Off' },
    ),
  ];
}

function powerCondition(
  server: Server,
  type: string,
  holds: boolean,
  whenTrue: Explanation,
  whenFalse: Explanation,
): ReportedCondition[] {
  if (holds) return [condition(server, type, 'True', whenTrue)];
  const known = server.status?.conditions?.some((existing) => existing.type === type) ?? false;
  return known ? [condition(server, type, 'False', whenFalse)] : [];
}

import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Outcome, StatusReport } from '@metal/kube/controller.ts';
import { condition, type Explanation, readyCondition, type ReportedCondition } from '../../ready-condition.ts';
import type { ServerFacts, ServerPhase } from './facts.ts';
import { hardwareFields, networkInterfacesOf } from './hardware.ts';

/** Decisions that stand for "as it should be": the machine is what its claim, or the lack of one, asks for. */
const settled: Record<string, string> = {
  Available: 'off and free to be claimed',
  ClaimServed: 'as its claim asks',
  KeptForReview: 'released and off; kept until spec.serverClaimRef is cleared',
};

export function reportServer(server: Server, facts: ServerFacts, outcome: Outcome<ServerPhase>): StatusReport {
  return {
    fields: {
      ...hardwareFields(server, facts),
      networkInterfaces:
        facts.inventory === undefined
          ? server.status?.networkInterfaces
          : networkInterfacesOf(facts.inventory.spec.report),
      powerState: facts.powerSeenMsAgo === undefined ? server.status?.powerState : facts.power,
      state: outcome.phase,
      stateSince: outcome.phaseSince,
      discoveryAttempts: attemptsAfter(server, facts, outcome.phase),
      provisionedClaimUID: facts.claim.standing === 'held' && facts.claim.provisioned ? facts.claim.uid : undefined,
    },
    conditions: [
      readyCondition(server, outcome, settledAs(outcome)),
      ...discoveredCondition(server, outcome.phase),
      ...powerConditions(server, facts),
    ],
  };
}

function settledAs({ decision, error }: Outcome<ServerPhase>): Explanation | undefined {
  if (error !== undefined || decision.kind !== 'wait' || decision.reason === undefined) return undefined;
  const message = settled[decision.reason];
  return message === undefined ? undefined : { reason: decision.reason, message: decision.message ?? message };
}

/** Counts entries into Discovery since the last success, so that a server that never reports ends in Error. */
function attemptsAfter({ status }: Server, { discoveryAttempts }: ServerFacts, phase: ServerPhase): number {
  if (phase === 'Discovery') return status?.state === 'Discovery' ? discoveryAttempts : discoveryAttempts + 1;
  return phase === 'Initial' || phase === 'Error' ? discoveryAttempts : 0;
}

function discoveredCondition(server: Server, phase: ServerPhase): ReportedCondition[] {
  if (phase === 'Available' || phase === 'Reserved' || phase === 'Released') {
    return [
      condition(server, 'Discovered', 'True', {
        reason: 'InventoryReported',
        message: 'the probe reported the hardware',
      }),
    ];
  }
  return [
    condition(server, 'Discovered', 'False', {
      reason: phase === 'Error' ? 'DiscoveryFailed' : 'NotYetReported',
      message: 'no report of the probe yet',
    }),
  ];
}

/** The two power conditions of v0.7.0, with a coherent False. They appear with the first change of power. */
function powerConditions(server: Server, { transition, power }: ServerFacts): ReportedCondition[] {
  const turningOn = transition?.target === 'On';
  const turningOff = transition?.target === 'Off';
  return [
    ...powerCondition(
      server,
      'PoweringOn',
      turningOn,
      { reason: 'ServerPowerOn', message: 'Server is powering on' },
      { reason: 'NotPoweringOn', message: 'no power-on is under way' },
    ),
    ...powerCondition(
      server,
      'WaitingForPowerOff',
      turningOff,
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

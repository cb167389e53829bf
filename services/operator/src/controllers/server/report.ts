import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { type Explanation, readyCondition } from '../ready-condition.ts';
import { inventoryCondition } from '../inventory-condition.ts';
import { cleanupStatus } from './cleanup/report.ts';
import { hardwareFields, networkInterfacesBefore, networkInterfacesOf } from './discovery/hardware-report.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { reachableCondition } from './bmc/report.ts';
import { powerConditions } from './power/report.ts';
import { firstBootOrder, settingConditions } from './settings/report.ts';
import { uniqueCondition } from './duplicates/report.ts';
import { provisioningFields } from './claim/report.ts';
import { attemptsAfter, discoveredCondition } from './discovery/report.ts';
import { stateBefore } from './maintenance/report.ts';
import type { ServerFacts, ServerPhase } from './types.ts';

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

function readyExplanation({ decision, error }: Outcome<ServerPhase>): Explanation | undefined {
  if (error !== undefined || decision.kind !== 'wait' || decision.reason === undefined) return undefined;
  const message = readyMessages[decision.reason];
  return message === undefined ? undefined : { reason: decision.reason, message: decision.message ?? message };
}

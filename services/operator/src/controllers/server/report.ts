import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import { healthCondition } from '../health-condition.ts';
import { inventoryCondition } from '../inventory-condition.ts';
import { conditionsOf, type Explanation, readyCondition } from '../ready-condition.ts';
import { reachableCondition } from './bmc/report.ts';
import { provisioningFields } from './claim/report.ts';
import { cleanupStatus } from './cleanup/report.ts';
import { decommissionStatus } from './decommissioning/report.ts';
import { attemptsAfter, discoveredCondition, hardwareFields } from './discovery/report.ts';
import { uniqueCondition } from './duplicates/report.ts';
import { maintenanceStatus, stateBeforeMaintenance } from './maintenance/report.ts';
import { powerConditions } from './power/report.ts';
import { firstBootOrder, settingConditions } from './settings/report.ts';
import type { ServerFacts, ServerPhase } from './types.ts';

/** Fields that do not end the debouncing of a status while one wait follows another. */
export const serverProgressFields = ['powerState', 'biosVersion', 'networkInterfaces', 'pendingBootUID', 'history'];

/** The status and the conditions of a Server. Fields of one concern come from its folder. */
export function reportServer(server: Server, facts: ServerFacts, outcome: Outcome<ServerPhase>): StatusReport {
  const { phase } = outcome;
  const ready = readyCondition(server, outcome, readyExplanation(outcome));
  const powerState = facts.powerSeenMsAgo === undefined ? server.status?.powerState : facts.power;
  return {
    fields: {
      ...(isBack(server, phase) ? {} : hardwareFields(server, facts)),
      powerState,
      state: phase,
      stateSince: outcome.phaseSince,
      pendingBootUID: facts.pendingBootUid,
      bootOrder: firstBootOrder(server, facts, phase),
      discoveryAttempts: attemptsAfter(server, facts, phase),
      ...provisioningFields(server, facts, outcome),
      stateBeforeMaintenance: stateBeforeMaintenance(server, phase),
      maintenance: maintenanceStatus(server, facts, outcome),
      claim: heldBy(server),
      evictionSince: facts.eviction?.since,
      cleanup: cleanupStatus(server, facts, outcome),
      decommission: decommissionStatus(server, facts, phase),
      history: historyAfter(server, { state: phase, reason: ready.reason, power: powerState }, outcome),
      failure: phase === 'Error' ? facts.failure : undefined,
      rejectedLogin: facts.rejectedLogin,
    },
    conditions: [
      ready,
      reachableCondition(server, facts),
      discoveredCondition(server, facts, phase),
      ...inventoryCondition(server, facts.hardware?.missing),
      ...healthCondition(server, facts.health),
      ...powerConditions(server, facts),
      ...settingConditions(server, facts),
      ...uniqueCondition(server, facts),
    ],
  };
}

/** The hardware of a server that comes back to the fleet is read anew: what the status holds of it does not count any more. */
const isBack = ({ status }: Server, phase: ServerPhase): boolean =>
  phase === 'Initial' && (status?.state === 'Decommissioned' || status?.state === 'Decommissioning');

type History = NonNullable<NonNullable<Server['status']>['history']>;
const historyLength = 10;

/**
 * Compares with the status and not with the last entry: an entry is added only where another field changes as well, so the
 * history never causes a write.
 */
function historyAfter(
  server: Server,
  current: Omit<History[number], 'time'>,
  { at, phaseSince }: Outcome<ServerPhase>,
): History | undefined {
  const { state, powerState, history = [] } = server.status ?? {};
  const reason = conditionsOf(server).find(({ type }) => type === 'Ready')?.reason;
  if (state === current.state && reason === current.reason && powerState === current.power)
    return server.status?.history;
  return [...history, { time: at ?? phaseSince, ...current }].slice(-historyLength);
}

const heldBy = ({ spec: { serverClaimRef: ref } }: Server): string | undefined =>
  ref === undefined ? undefined : `${ref.namespace}/${ref.name}`;

/** A Server is Ready while it waits for one of these reasons: the machine is in its desired state. */
const readyMessages: Record<string, string> = {
  Available: 'off and free to be claimed',
  ClaimServed: 'as its claim asks',
  KeptForReview: 'released and off; kept until spec.serverClaimRef is cleared',
  Parked: 'parked and off',
  Decommissioned: 'off for good',
};

function readyExplanation({ decision, error }: Outcome<ServerPhase>): Explanation | undefined {
  if (error !== undefined || decision.kind !== 'wait' || decision.reason === undefined) return undefined;
  const message = readyMessages[decision.reason];
  return message === undefined ? undefined : { reason: decision.reason, message: decision.message ?? message };
}

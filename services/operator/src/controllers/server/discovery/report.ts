import { condition, type ReportedCondition } from '../../ready-condition.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

const discoveredPhases: readonly ServerPhase[] = ['Available', 'Reserved', 'Released', 'Cleanup'];

/** Counts entries into Discovery since the last success, so that a server that never reports ends in Error. */
export function attemptsAfter({ status }: Server, { discoveryAttempts }: ServerFacts, phase: ServerPhase): number {
  if (phase === 'Discovery') return status?.state === 'Discovery' ? discoveryAttempts : discoveryAttempts + 1;
  return discoveredPhases.includes(phase) ? 0 : discoveryAttempts;
}

export function discoveredCondition(server: Server, { inventory }: ServerFacts, phase: ServerPhase): ReportedCondition {
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

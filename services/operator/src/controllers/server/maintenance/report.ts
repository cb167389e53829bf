import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';

/** The state to go back to when the maintenance ends. */
export function stateBeforeMaintenance({ status }: Server, phase: ServerPhase): string | undefined {
  if (phase !== 'Maintenance') return undefined;
  return status?.state === 'Maintenance' ? status.stateBeforeMaintenance : status?.state;
}

/** Recorded on entry: light, boot order, health and parts as they were, to be restored or compared at the end. */
export function maintenanceStatus({ status }: Server, facts: ServerFacts, outcome: Outcome<ServerPhase>) {
  if (outcome.phase !== 'Maintenance') return undefined;
  const isEntry = status?.state !== 'Maintenance';
  const before = isEntry ? recordOf(facts) : status.maintenance;
  const { boot } = facts.maintenance;
  return {
    ...before,
    indicatorLED: before?.indicatorLED ?? (facts.isLightOfMaintenance ? facts.led : undefined),
    bootConfigurationUID:
      outcome.decision.reason === 'MaintenanceBoots' && outcome.decision.kind === 'wait' && boot !== undefined
        ? boot.uid
        : before?.bootConfigurationUID,
  };
}

function recordOf({ seenBootOrder, health, parts }: ServerFacts): NonNullable<Server['status']>['maintenance'] {
  return {
    bootOrder: seenBootOrder === undefined ? undefined : [...seenBootOrder],
    health: health?.level,
    parts: parts === undefined ? undefined : [...parts],
  };
}

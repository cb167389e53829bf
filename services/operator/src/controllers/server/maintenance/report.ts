import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerPhase } from '../types.ts';

/** The state to go back to when the maintenance ends. */
export function stateBeforeMaintenance({ status }: Server, phase: ServerPhase): string | undefined {
  if (phase !== 'Maintenance') return undefined;
  return status?.state === 'Maintenance' ? status.stateBeforeMaintenance : status?.state;
}

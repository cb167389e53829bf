import type { ServerPhase } from '../types.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

export function stateBefore({ status }: Server, phase: ServerPhase): string | undefined {
  if (phase !== 'Maintenance') return undefined;
  return status?.state === 'Maintenance' ? status.stateBeforeMaintenance : status?.state;
}

import { type Decision, type Row, rowsOf } from '@metal/kube/controller/decide.ts';
import { waiverStep } from './cleanup/steps.ts';
import { decommissionStep } from './decommissioning/steps.ts';
import { duplicateStep } from './duplicates/steps.ts';
import { maintenanceStep } from './maintenance/steps.ts';
import { operationStep } from './operations/steps.ts';
import type { ServerReason } from './reasons.ts';
import { replacementStep } from './replacement/steps.ts';
import { settingsStep } from './settings/steps.ts';
import type { GlobalPhase, ServerAction, ServerFacts, ServerPhase } from './types.ts';

const row = rowsOf<ServerPhase, ServerFacts, ServerAction, ServerReason>();

/**
 * A row of the table. In every phase these are decided first, in this order: a duplicate Server of the machine, an operation
 * by annotation, a waiver, a new mainboard, a decommission, a maintenance, settings of the machine.
 */
export function phase<const To extends readonly ServerPhase[]>(
  name: ServerPhase,
  to: To,
  decide: (server: ServerFacts) => Decision<To[number], ServerAction, ServerReason>,
): Row<ServerPhase, ServerFacts, ServerAction, ServerReason> {
  return row<readonly (GlobalPhase | To[number])[]>(
    [...new Set([...to, ...globalTransitionsOf(name)])],
    (server) =>
      duplicateStep(server) ??
      operationStep(name, server) ??
      waiverStep(name, server) ??
      replacementStep(name, server) ??
      decommissionStep(name, server) ??
      maintenanceStep(name, server) ??
      settingsStep(name, server) ??
      decide(server),
  );
}

const leavingPhases: readonly ServerPhase[] = ['Initial', 'Discovery', 'Available', 'Error'];

/** The phases that a maintenance, a decommission or an operation leads to from the given one. */
function globalTransitionsOf(name: ServerPhase): GlobalPhase[] {
  if (name === 'Decommissioned') return [];
  const leaving: GlobalPhase[] = leavingPhases.includes(name)
    ? ['Cleanup', 'Decommissioning', 'Decommissioned']
    : ['Decommissioned'];
  return [...leaving, ...parkingTransitionsOf(name)];
}

function parkingTransitionsOf(name: ServerPhase): GlobalPhase[] {
  const maintenance: GlobalPhase[] = name === 'Initial' || name === 'Maintenance' ? [] : ['Maintenance'];
  return name === 'Parked' ? maintenance : [...maintenance, 'Parked'];
}

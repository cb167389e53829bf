import { type Decision, type Row, rowsOf } from '@metal/kube/controller/decide.ts';
import type { ServerAction, ServerFacts, ServerPhase, GlobalPhase } from './types.ts';
import { duplicateStep } from './duplicates/steps.ts';
import { operationStep } from './operations/steps.ts';
import { waiverStep } from './cleanup/steps.ts';
import { maintenanceStep } from './maintenance/steps.ts';
import { settingsStep } from './settings/steps.ts';
import type { ServerReason } from './reasons.ts';

const row = rowsOf<ServerPhase, ServerFacts, ServerAction, ServerReason>();

/**
 * A phase of the table. That another Server has the machine, what a person asks for by annotation, a maintenance, and
 * settings of the machine come before the judgement of every phase, in this order.
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
      maintenanceStep(name, server) ??
      settingsStep(name, server) ??
      decide(server),
  );
}

/** Where people and maintenances may take a server from each phase. */
function globalTransitionsOf(name: ServerPhase): GlobalPhase[] {
  const maintenance: GlobalPhase[] = name === 'Initial' || name === 'Maintenance' ? [] : ['Maintenance'];
  return name === 'Parked' ? maintenance : [...maintenance, 'Parked'];
}

import { ReconcileLoop } from './reconcile-loop.ts';
import type { PhaseControllerDefinition, Controller } from './definition.ts';
import type { PhaseTable } from './decide.ts';
import type { KubeObject } from '../kinds/kind.ts';

/** The controller of a definition. Each `start` runs one reconcile loop. */
export function phaseController<
  T extends KubeObject,
  Phase extends string,
  Facts,
  Action extends string,
  Context,
  Memory = undefined,
>(definition: PhaseControllerDefinition<T, Phase, Facts, Action, Context, Memory>): Controller<Context> {
  const { name, kind, writes, watches = [], table, reasons = {} } = definition;
  return {
    name,
    kind,
    writes,
    reasons,
    watches,
    isShared: definition.shardKey !== undefined,
    transitions: Object.fromEntries(phasesOf(table).map((phase) => [phase, table[phase].to])),
    start: (runtime, context) => new ReconcileLoop(definition, runtime, context),
  };
}

function phasesOf<Phase extends string, Facts, Action extends string>(
  table: PhaseTable<Phase, Facts, Action>,
): Phase[] {
  return Object.keys(table) as Phase[]; // a PhaseTable has exactly the phases as keys
}

import { ReconcileLoop } from './reconcile-loop.ts';
import type { PhaseControllerDefinition, Controller } from './definition.ts';
import type { PhaseTable } from './decide.ts';
import type { KubeObject } from '../kinds/kind.ts';

/**
 * Makes a controller out of a phase table.
 *
 * A turn looks (facts), judges (the row of the phase) and does (one action), again and again until the judgement is to
 * wait or rest, at most ten times. Status is written once at its end, and before an action that follows a change of
 * phase, so that a process that dies after the deed finds the phase it was done in.
 */
export function phaseController<T extends KubeObject, Phase extends string, Facts, Action extends string, Context>(
  definition: PhaseControllerDefinition<T, Phase, Facts, Action, Context>,
): Controller<Context> {
  const { name, kind, writes, watches = [], table, reasons = {} } = definition;
  return {
    name,
    kind,
    writes,
    reasons,
    watchedKinds: watches.map((watch) => watch.kind),
    isShared: definition.shardKey !== undefined,
    transitions: Object.fromEntries(phasesOf(table).map((phase) => [phase, table[phase].to])),
    start: (runtime, context) => new ReconcileLoop(definition, runtime, context),
  };
}

export function phasesOf<Phase extends string, Facts, Action extends string>(
  table: PhaseTable<Phase, Facts, Action>,
): Phase[] {
  return Object.keys(table) as Phase[]; // a PhaseTable has exactly the phases as keys
}

import { act, type PhaseTable, rest, rowsOf } from '@metal/kube/controller/decide.ts';
import type { TaintsAction, TaintsFacts, TaintsPhase } from './facts.ts';
import type { taintsReasons } from './reasons.ts';

const row = rowsOf<TaintsPhase, TaintsFacts, TaintsAction, keyof typeof taintsReasons>();

/** Writes the taints whenever they differ from the rules. */
export const taintsTable: PhaseTable<TaintsPhase, TaintsFacts, TaintsAction> = {
  Watched: row([], ({ plan }) =>
    plan === undefined ? rest : act('writeTaints', 'ReadinessChanged', plan.changes.join('; ')),
  ),
};

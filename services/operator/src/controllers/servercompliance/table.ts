import { act, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { type ComplianceAction, type ComplianceFacts, type CompliancePhase, hasSets } from './facts.ts';
import type { complianceReasons } from './reasons.ts';

const row = rowsOf<CompliancePhase, ComplianceFacts, ComplianceAction, keyof typeof complianceReasons>();

const resyncMs = minutes(60);
/** A comparison usually has a result at once. */
const reportAfterMs = seconds(5);

/** The report has the condition; a server that no set selects any more loses it. */
export const complianceTable: PhaseTable<CompliancePhase, ComplianceFacts, ComplianceAction> = {
  Watched: row([], (facts) => {
    if (facts.isReported && !hasSets(facts)) return act('removeCondition', 'NoSetConcerned');
    return facts.sets.unknown.length > 0 ? wait(resyncMs, 'SetsNotCompared', undefined, reportAfterMs) : rest;
  }),
};

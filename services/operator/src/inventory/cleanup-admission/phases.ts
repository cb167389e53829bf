import { act, minutes, type PhaseTable, rest, rowsOf, seconds, wait } from '@metal/kube/decide.ts';
import { isItsTurn } from '../server/cleanup-queue.ts';
import type { AdmissionAction, AdmissionFacts, AdmissionPhase } from './facts.ts';
import type { admissionReasons } from './reasons.ts';

const row = rowsOf<AdmissionPhase, AdmissionFacts, AdmissionAction, keyof typeof admissionReasons>();

/** The limits of the fleet are kept by one process; who begins is told to the replicas on the server itself. */
export const admissionPhases: PhaseTable<AdmissionPhase, AdmissionFacts, AdmissionAction> = {
  Watched: row([], ({ queue }) => {
    if (queue === undefined) return rest;
    if (isItsTurn(queue)) return act('letIn', 'CleanupMayStart');
    // Whoever ends or stops waiting wakes the next; only the hour passes without a word.
    const isHourFull = queue.running + queue.ahead < queue.atOnce;
    return wait(isHourFull ? Math.max(queue.hourFreesInMs, seconds(1)) : minutes(5), 'CleanupMustWait');
  }),
};

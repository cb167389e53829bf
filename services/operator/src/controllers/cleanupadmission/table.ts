import { act, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { isAdmissible, queuePollMs } from '../../cleanup/queue-position.ts';
import type { AdmissionAction, AdmissionFacts, AdmissionPhase } from './facts.ts';
import type { admissionReasons } from './reasons.ts';

const row = rowsOf<AdmissionPhase, AdmissionFacts, AdmissionAction, keyof typeof admissionReasons>();

/** One process applies the limits of the fleet; an annotation on the server carries the admission to its replica. */
export const admissionTable: PhaseTable<AdmissionPhase, AdmissionFacts, AdmissionAction> = {
  Watched: row([], ({ queue }) => {
    if (queue === undefined) return rest;
    if (isAdmissible(queue)) return act('admit', 'CleanupMayStart');
    return wait(queuePollMs(queue), 'CleanupMustWait');
  }),
};

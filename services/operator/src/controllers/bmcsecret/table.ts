import { act, type PhaseTable, rest, rowsOf } from '@metal/kube/controller/decide.ts';
import type { BmcSecretAction, BmcSecretFacts, BmcSecretPhase } from './facts.ts';
import type { BmcSecretReason } from './reasons.ts';

const row = rowsOf<BmcSecretPhase, BmcSecretFacts, BmcSecretAction, BmcSecretReason>();

export const bmcSecretTable: PhaseTable<BmcSecretPhase, BmcSecretFacts, BmcSecretAction, BmcSecretReason> = {
  Present: row([], (secret) => {
    if (secret.isConvertible) return act('convert', 'StringDataConverted');
    if (secret.problem !== undefined && !secret.isReported) return act('recordProblemEvent', secret.problem.reason);
    return rest;
  }),
};

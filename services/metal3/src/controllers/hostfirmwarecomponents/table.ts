import { act, type PhaseTable, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { ComponentsAction, ComponentsFacts, ComponentsPhase } from './facts.ts';
import type { ComponentsReason } from './reasons.ts';

const row = rowsOf<ComponentsPhase, ComponentsFacts, ComponentsAction, ComponentsReason>();
const blockedMs = minutes(10);

export const componentsTable: PhaseTable<ComponentsPhase, ComponentsFacts, ComponentsAction, ComponentsReason> = {
  Present: row([], ({ blocker, next, comparison, hasNewProblems }) => {
    if (blocker !== undefined) return wait(blockedMs, blocker.reason, blocker.message);
    if (next.failure !== undefined) return wait(next.inMs, 'ComponentsUnreadable', next.failure);
    if (next.inMs <= 0) return act('readComponents', 'ReadingComponents');
    if (hasNewProblems) return act('recordProblems', 'ValidationFailed');
    if (comparison.problems.length > 0) return wait(next.inMs, 'UpdatesInvalid', comparison.problems[0]);
    return wait(next.inMs, comparison.isChanged ? 'UpdatesWanted' : 'UpdatesStarted');
  }),
};

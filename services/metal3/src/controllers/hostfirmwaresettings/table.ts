import { act, type PhaseTable, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { SettingsAction, SettingsFacts, SettingsPhase } from './facts.ts';
import type { SettingsReason } from './reasons.ts';

const row = rowsOf<SettingsPhase, SettingsFacts, SettingsAction, SettingsReason>();
const blockedMs = minutes(10);

export const settingsTable: PhaseTable<SettingsPhase, SettingsFacts, SettingsAction, SettingsReason> = {
  Present: row([], ({ blocker, next, comparison, ...facts }) => {
    if (blocker !== undefined) return wait(blockedMs, blocker.reason, blocker.message);
    if (next.failure !== undefined) return wait(next.inMs, 'SettingsUnreadable', next.failure);
    if (next.inMs <= 0) return act('readSettings', 'ReadingSettings');
    if (!facts.hasSchema) return act('shareSchema', 'SharingSchema');
    if (facts.hasNewProblems) return act('recordProblems', 'ValidationFailed');
    if (comparison.problems.length > 0) return wait(next.inMs, 'SettingsInvalid', comparison.problems[0]);
    return wait(next.inMs, comparison.isChanged ? 'SettingsChanged' : 'SettingsInUse');
  }),
};

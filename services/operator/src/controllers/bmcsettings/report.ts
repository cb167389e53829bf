import type { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import type { UpdateFacts } from '../../update-engine/types.ts';
import { condition, type ReportedCondition } from '../ready-condition.ts';

/** Types and reasons of v0.7.0. */
export function bmcSettingsConditions(
  object: BMCSettings,
  { attempt, comparison, failure }: UpdateFacts,
  isDone: boolean,
): ReportedCondition[] {
  const conditions: ReportedCondition[] = [];
  const add = (type: string, status: 'True' | 'False', reason: string, message: string): void =>
    void conditions.push(condition(object, type, status, { reason, message }));
  const hold = comparison?.hold;
  if (hold?.version !== undefined) add('VersionUpdatePending', 'True', 'VersionUpgradePending', hold.message);
  else if (attempt.startTime !== undefined)
    add('VersionUpdatePending', 'False', 'VersionMatching', 'the BMC has the firmware of spec.version');
  if (attempt.acceptTime !== undefined) {
    add('ChangesIssued', 'True', 'ChangesIssued', 'the BMC accepted the settings');
    if (attempt.restart !== 'BMC')
      add('ResetPostSettingApply', 'True', 'NoResetRequired', 'the settings need no restart of the BMC');
    else if (attempt.resetTime === undefined)
      add('ResetPostSettingApply', 'False', 'ResetRequired', 'the BMC is restarted for the settings');
    else add('ResetPostSettingApply', 'True', 'ResetIssued', 'the BMC was restarted for the settings');
    if (isDone) add('ChangesVerified', 'True', 'ChangesVerified', 'the BMC reports the settings');
    else add('ChangesVerified', 'False', 'SettingsVerificationPending', 'the BMC does not report the settings yet');
  }
  if (failure?.reason === 'SettingsValidationFailed')
    add('SettingsValidationFailed', 'True', 'SettingsValidationFailed', failure.message);
  return conditions;
}

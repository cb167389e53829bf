import type { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import type { UpdateFacts } from '../../update-engine/types.ts';
import { condition, type ReportedCondition } from '../ready-condition.ts';
import { orderedSteps } from './steps.ts';

type StepStatus = NonNullable<NonNullable<BIOSSettings['status']>['flowState']>[number];

/** `lastAppliedTime` and the state of each step. */
export function biosSettingsFields(
  object: BIOSSettings,
  facts: UpdateFacts,
  isDone: boolean,
  at: string,
): Readonly<Record<string, unknown>> {
  const flowState = orderedSteps(object).map((step) => stepStatus(object, step, facts, isDone, at));
  const wasDone = object.status?.state === 'Applied';
  const lastAppliedTime = wasDone ? object.status?.lastAppliedTime : at;
  return {
    flowState: flowState.length === 0 ? undefined : flowState,
    lastAppliedTime: isDone ? (lastAppliedTime ?? at) : undefined,
  };
}

function stepStatus(
  { status, metadata }: BIOSSettings,
  { name, priority }: { readonly name: string; readonly priority: number },
  facts: UpdateFacts,
  isDone: boolean,
  at: string,
): StepStatus {
  const before = status?.flowState?.find((one) => one.name === name && one.priority === priority);
  const flowState = stateOf(name, facts, isDone) ?? before?.flowState ?? 'Pending';
  const isApplied = flowState === 'Applied';
  const conditions =
    facts.attempt.step === name ? stepConditions(facts, isApplied, metadata.generation, at) : before?.conditions;
  return {
    name,
    priority,
    flowState,
    ...(isApplied ? { lastAppliedTime: before?.lastAppliedTime ?? at } : {}),
    ...(conditions === undefined || conditions.length === 0 ? {} : { conditions }),
  };
}

/** Undefined until the BIOS was compared. */
function stateOf(name: string, { attempt, comparison, failure }: UpdateFacts, isDone: boolean): string | undefined {
  if (isDone) return 'Applied';
  const isSent = attempt.step === name && attempt.sendTime !== undefined;
  if (isSent) return failure === undefined ? 'InProgress' : 'Failed';
  if (comparison === undefined) return undefined;
  return comparison.steps.some((step) => step.name === name) ? 'Pending' : 'Applied';
}

/** Types and reasons of v0.7.0; the times are those of the attempt. */
function stepConditions(
  { attempt, failure }: UpdateFacts,
  isApplied: boolean,
  generation: number | undefined,
  at: string,
): StepStatus['conditions'] {
  const conditions: NonNullable<StepStatus['conditions']> = [];
  const add = (time: string | undefined, type: string, status: 'True' | 'False', reason: string, message: string) => {
    if (time === undefined) return;
    conditions.push({ type, status, reason, message, lastTransitionTime: time, observedGeneration: generation });
  };
  const restarts = attempt.restart === 'Host';
  add(attempt.sendTime, 'SettingsUpdateStartTime', 'True', 'SettingsUpdateStarted', 'the settings were sent');
  add(attempt.sendTime, 'ServerPowerOn', 'True', 'ServerPoweredOn', 'the machine was on');
  if (restarts)
    add(attempt.sendTime, 'RebootPostUpdate', 'False', 'RebootPostSettingUpdate', 'the machine is restarted');
  else add(attempt.sendTime, 'RebootPostUpdate', 'True', 'SkipServerReboot', 'no restart is needed');
  add(attempt.acceptTime, 'SettingsUpdateIssued', 'True', 'SettingsUpdateIssued', 'the BMC accepted the settings');
  add(attempt.powerOffTime, 'RebootPowerOff', 'True', 'PowerOffCompletedDuringReboot', 'the machine was off');
  if (restarts)
    add(attempt.resetTime, 'RebootPowerOn', 'True', 'PowerOnCompletedDuringReboot', 'the machine is on again');
  if (failure?.reason === 'VerificationFailed')
    add(failure.time, 'SettingsTimedOut', 'True', 'SettingsTimedOutDuringUpdate', failure.message);
  if (isApplied) add(attempt.resetTime ?? at, 'VerifySettingsPostUpdate', 'True', 'VerificationCompleted', 'verified');
  return conditions;
}

/** Types and reasons of v0.7.0 for the object as a whole. */
export function biosSettingsConditions(
  object: BIOSSettings,
  { comparison, failure }: UpdateFacts,
  isDone: boolean,
): ReportedCondition[] {
  const hold = comparison?.hold;
  const of = (type: string, reason: string, message: string) => condition(object, type, 'True', { reason, message });
  return [
    ...(isDone ? [of('VerifySettingsPostUpdate', 'VerificationCompleted', 'the BIOS reports all settings')] : []),
    ...(hold?.version === undefined ? [] : [of('VersionUpdatePending', 'VersionUpgradePending', hold.message)]),
    ...(hold?.reason === 'PendingSettingsFound'
      ? [of('PendingSettingsCheck', 'PendingSettingsFound', hold.message)]
      : []),
    ...(failure?.reason === 'SettingsDuplicateKeysFound'
      ? [of('SettingsDuplicateKeys', 'SettingsDuplicateKeysFound', failure.message)]
      : []),
    ...(failure?.reason === 'SettingsValidationFailed'
      ? [of('SettingsValidationFailed', 'SettingsValidationFailed', failure.message)]
      : []),
  ];
}

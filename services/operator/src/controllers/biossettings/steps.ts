import type { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import {
  compareAttributes,
  type AttributeChange,
  type AttributeValue,
  type ObservedAttributes,
} from '@metal/redfish/resources/attributes.ts';
import { changesOfOthers, plannedChanges, validationFailure } from '../../update-engine/settings-changes.ts';
import type { Comparison, Hold, Step } from '../../update-engine/types.ts';
import type { Explanation } from '../ready-condition.ts';

type FlowStep = NonNullable<BIOSSettings['spec']['settingsFlow']>[number];

/** Lower priorities first; steps of one priority in the order of the spec. */
export const orderedSteps = ({ spec }: BIOSSettings): readonly FlowStep[] =>
  (spec.settingsFlow ?? []).toSorted((a, b) => a.priority - b.priority);

/** v0.7.0 identifies steps by name, and the order of equal attributes in several steps is a guess. */
export function duplicatesIn(object: BIOSSettings): Explanation | undefined {
  const steps = orderedSteps(object);
  const names = repeated(steps.map(({ name }) => name));
  const keys = repeated(steps.flatMap(({ settings }) => Object.keys(settings ?? {})));
  if (names.length === 0 && keys.length === 0) return undefined;
  const found = [
    ...(names.length === 0 ? [] : [`steps ${names.join(', ')}`]),
    ...(keys.length === 0 ? [] : [`attributes ${keys.join(', ')}`]),
  ];
  return { reason: 'SettingsDuplicateKeysFound', message: `spec.settingsFlow repeats ${found.join(' and ')}` };
}

const repeated = (texts: readonly string[]): string[] => [
  ...new Set(texts.filter((text, index) => texts.indexOf(text) !== index)),
];

/** Steps with differences, in order; and what is invalid in any of them. */
export function compareSteps(
  object: BIOSSettings,
  observed: ObservedAttributes,
): Pick<Comparison, 'steps' | 'problem'> {
  // A step may need what an earlier one sets.
  const current: Record<string, AttributeValue> = { ...observed.current };
  const compared = orderedSteps(object).map(({ name, settings = {} }) => {
    const result = compareAttributes(settings, { ...observed, current });
    for (const change of result.changes) current[change.name] = change.to;
    return { name, ...result };
  });
  const problem = validationFailure(compared.flatMap(({ problems }) => problems));
  const steps = compared
    .filter(({ changes }) => changes.length > 0)
    .map(
      ({ name, changes }): Step => ({
        name,
        changes: plannedChanges(changes),
        restart: changes.some(({ needsReset }) => needsReset) ? 'Host' : 'None',
      }),
    );
  return { steps, ...(problem === undefined ? {} : { problem }) };
}

export const changesOf = (object: BIOSSettings, step: string, observed: ObservedAttributes): AttributeChange[] => {
  const settings = orderedSteps(object).find(({ name }) => name === step)?.settings ?? {};
  return compareAttributes(settings, observed).changes;
};

/** Pending values that nobody asked this object for. */
export function foreignPending(
  object: BIOSSettings,
  { pending, registry, isResetPending }: ObservedAttributes,
): Hold | undefined {
  const desired = Object.assign({}, ...orderedSteps(object).map(({ settings }) => settings ?? {})) as Record<
    string,
    string
  >;
  const asPending: ObservedAttributes = { current: pending, pending: {}, registry, isResetPending: false };
  const foreign = Object.keys(pending).filter((name) => {
    const text = desired[name];
    return text === undefined || compareAttributes({ [name]: text }, asPending).changes.length > 0;
  });
  if (foreign.length === 0 && !isResetPending) return undefined;
  const what = isResetPending ? 'a reset to the defaults waits' : changesOfOthers(foreign);
  return { reason: 'PendingSettingsFound', message: `${what} for a restart of the machine` };
}

/** The BMC has the values of the step, now or after the next restart. */
export function isSent(object: BIOSSettings, step: string, observed: ObservedAttributes): boolean {
  const merged = { ...observed, current: { ...observed.current, ...observed.pending } };
  return changesOf(object, step, merged).length === 0;
}

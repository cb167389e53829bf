import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import type { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { isSameJson, type StatusReport } from '@metal/kube/controller/status-diff.ts';

/** The spec beside what was read from the machine. */
export interface Comparison {
  readonly isChanged: boolean;
  /** Why the change cannot be made. Empty: it can. */
  readonly problems: readonly string[];
}

type FirmwareObject = HostFirmwareSettings | HostFirmwareComponents;

interface Observed {
  readonly comparison: Comparison;
  /** Time of the reading, milliseconds of the clock. */
  readonly at: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly reasons: { readonly valid: string; readonly invalid: string };
}

export const firmwareConditionTypes = ['ChangeDetected', 'Valid'] as const;

/**
 * The status after a reading. lastUpdated moves with each reading while a change is detected: the host applies a change only if the
 * values were read after its last one.
 */
export function firmwareStatus(object: FirmwareObject, { comparison, at, fields, reasons }: Observed): StatusReport {
  const {
    conditions: present = [],
    lastUpdated,
    ...before
  }: Record<string, unknown> & FirmwareStatus = object.status ?? {};
  const conditions = conditionsOf(object, comparison, reasons);
  const isSame =
    Object.entries(fields).every(([name, value]) => isSameJson(before[name], value)) &&
    conditions.every((wanted) => present.some((known) => isSameJson(withoutTime(known), wanted)));
  const isRead = comparison.isChanged || !isSame;
  return { fields: { ...fields, lastUpdated: isRead ? rfc3339(at) : lastUpdated }, conditions };
}

/** The status as it is, where nothing was read for this generation. */
export function unreadStatus({ status }: FirmwareObject, names: readonly string[]): StatusReport {
  const fields: Readonly<Record<string, unknown>> = { ...status };
  return { fields: Object.fromEntries(names.map((name) => [name, fields[name]])), conditions: [] };
}

/** A problem is reported unless the status has it already, for example from a former process. */
export const hasReportedProblem = ({ metadata, status }: FirmwareObject): boolean =>
  status?.conditions?.some(
    (known) => known.type === 'Valid' && known.status === 'False' && known.observedGeneration === metadata.generation,
  ) ?? false;

type FirmwareStatus = Pick<NonNullable<FirmwareObject['status']>, 'conditions' | 'lastUpdated'>;
type Stored = NonNullable<FirmwareStatus['conditions']>[number];

function conditionsOf(
  { metadata }: FirmwareObject,
  { isChanged, problems }: Comparison,
  { valid, invalid }: Observed['reasons'],
): StatusReport['conditions'] {
  const isValid = problems.length === 0;
  const observed = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  return [
    {
      type: 'ChangeDetected',
      status: isChanged ? 'True' : 'False',
      reason: valid,
      message: '',
      ...observed,
    },
    {
      type: 'Valid',
      status: isValid ? 'True' : 'False',
      reason: isValid ? valid : invalid,
      message: shortened(problems),
      ...observed,
    },
  ];
}

const mostNamed = 2;

/** The events have all of them. */
function shortened(problems: readonly string[]): string {
  const named = problems.slice(0, mostNamed).join('; ');
  return problems.length > mostNamed ? `${named}; and ${problems.length - mostNamed} more` : named;
}

function withoutTime(condition: Stored): Omit<Stored, 'lastTransitionTime'> {
  const { lastTransitionTime: _, ...rest } = condition;
  return rest;
}

const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

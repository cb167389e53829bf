import type { Condition, KubeObject } from '../kinds/kind.ts';

type Reported = StatusReport['conditions'][number];

/** The part of a report to write. */
export interface StatusDiff {
  /** The status to apply, complete for its owner. */
  readonly status: Readonly<Record<string, unknown>>;
  /** Fields that change, conditions aside. */
  readonly changedFields: readonly string[];
  /** `Ready` in the API; undefined if the object has no such condition. */
  readonly readyBefore: Condition['status'] | undefined;
  /** `Ready` was False in the API and stays so: one wait follows another. */
  readonly staysUnready: boolean;
  /** The status lacks nothing but the new generation of the object. */
  readonly isOnlyGeneration: boolean;
}

/**
 * Compares a report with the status of the object; undefined if they are equal.
 *
 * `lastTransitionTime` moves only when a condition's status does. Owned conditions that the report leaves out are
 * carried over, so that a process that has just started does not remove what it has not observed yet.
 */
export function diffStatus(
  object: KubeObject,
  report: StatusReport,
  conditionTypes: readonly string[],
  now: number,
): StatusDiff | undefined {
  const current = statusOf(object);
  const known = conditionsIn(current);
  const carried = known.filter(
    ({ type }) => conditionTypes.includes(type) && !report.conditions.some((reported) => reported.type === type),
  );
  const conditions = [...report.conditions.map((reported) => stamped(reported, known, now)), ...carried];
  const changedFields = Object.keys(report.fields).filter((name) => !isSameJson(current[name], report.fields[name]));
  const isAsKnown = (adjust: (before: Condition, reported: Condition) => Condition): boolean =>
    conditions.every((condition) => {
      const before = known.find(({ type }) => type === condition.type);
      return before !== undefined && isSameJson(adjust(before, condition), condition);
    });
  if (changedFields.length === 0 && isAsKnown((before) => before)) return undefined;
  const fields = withoutUndefined(report.fields);
  return {
    status: conditions.length === 0 ? fields : { ...fields, conditions },
    changedFields,
    readyBefore: readyIn(known),
    staysUnready: readyIn(known) === 'False' && readyIn(conditions) === 'False',
    isOnlyGeneration:
      changedFields.length === 0 && isAsKnown((before, { observedGeneration }) => ({ ...before, observedGeneration })),
  };
}

const readyIn = (conditions: readonly Pick<Condition, 'type' | 'status'>[]): Condition['status'] | undefined =>
  conditions.find(({ type }) => type === 'Ready')?.status;

function stamped(reported: Reported, known: readonly Condition[], now: number): Condition {
  const before = known.find(({ type }) => type === reported.type);
  const lastTransitionTime =
    before?.status === reported.status
      ? before.lastTransitionTime
      : new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return { ...reported, message: reported.message.slice(0, 32_768), lastTransitionTime };
}

function statusOf(object: KubeObject): Record<string, unknown> {
  const status = 'status' in object ? object.status : undefined;
  return typeof status === 'object' && status !== null ? { ...status } : {};
}

function conditionsIn({ conditions }: Record<string, unknown>): readonly Condition[] {
  return Array.isArray(conditions) ? conditions : [];
}

const withoutUndefined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Equal when serialized as JSON: members that are undefined do not exist, and dates are strings. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (one instanceof Date || other instanceof Date) return JSON.stringify(one) === JSON.stringify(other);
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((member: unknown, index) => isSameJson(member, other[index]))
    );
  // Objects that are neither null nor arrays have members by name.
  const [ones, others] = [one as Members, other as Members];
  return (
    Object.keys(ones).every((name) => isSameJson(ones[name], others[name])) &&
    Object.keys(others).every((name) => others[name] === undefined || ones[name] !== undefined)
  );
}

type Members = Readonly<Record<string, unknown>>;

/** Everything a controller owns in an object's status. A field that is undefined is removed. */
export interface StatusReport {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Omit<Condition, 'lastTransitionTime'>[];
}

import { isDeepStrictEqual } from 'node:util';
import type { StatusReport } from './controller.ts';
import type { Condition, KubeObject } from './kind.ts';

type Reported = StatusReport['conditions'][number];

/**
 * The status to apply, complete for its owner, or undefined when the object already says all of it.
 *
 * `lastTransitionTime` moves only when a condition's status does. Owned conditions that the report leaves out are
 * carried over, so that a process that has just started does not take back what it has not looked at yet.
 */
export function statusPatch(
  object: KubeObject,
  report: StatusReport,
  conditionTypes: readonly string[],
  now: number,
): Record<string, unknown> | undefined {
  const current = statusOf(object);
  const known = conditionsIn(current);
  const carried = known.filter(
    ({ type }) => conditionTypes.includes(type) && !report.conditions.some((reported) => reported.type === type),
  );
  const conditions = [...report.conditions.map((reported) => stamped(reported, known, now)), ...carried];
  const fields = withoutUndefined(report.fields);
  const changed = Object.keys(report.fields).some(
    (name) => !isDeepStrictEqual(plain(current[name]), plain(report.fields[name])),
  );
  const retold = conditions.some(
    (condition) => !isDeepStrictEqual(plain(known.find(({ type }) => type === condition.type)), plain(condition)),
  );
  if (!changed && !retold) return undefined;
  return conditions.length === 0 ? fields : { ...fields, conditions };
}

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

/** As it would read after a journey through JSON: members that are undefined do not exist. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

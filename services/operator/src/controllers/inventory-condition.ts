import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { MissingPart } from '@metal/redfish/resources/part-reader.ts';
import { problemCondition } from './problem-condition.ts';
import { condition, conditionsOf, type Explanation, type ReportedCondition } from './ready-condition.ts';

/** Condition: all resources that the BMC lists could be read. */
export const inventoryComplete = 'InventoryComplete';

const longestPath = 80;
const allRead: Explanation = {
  reason: 'AllResourcesRead',
  message: 'every resource that the BMC lists could be read',
};

/**
 * Resources that the BMC lists and that cannot be read. While this process has read nothing (`missing` is undefined), the condition
 * of an earlier process stays.
 */
export function inventoryCondition(
  object: KubeObject,
  missing: readonly MissingPart[] | undefined,
): ReportedCondition[] {
  const before = reportedConditionOf(object);
  if (missing === undefined)
    return before === undefined ? [] : [condition(object, inventoryComplete, before.status, before)];
  return problemCondition(object, inventoryComplete, missing.length > 0 ? explanationOf(missing) : undefined, allRead);
}

/** The status reports this already. */
export function isInventoryReported(object: KubeObject, missing: readonly MissingPart[]): boolean {
  const before = reportedConditionOf(object);
  return inventoryCondition(object, missing).every(
    ({ status, message }) => before?.status === status && before.message === message,
  );
}

/** The reported message, for comparison. */
export const reportedInventory = (object: KubeObject): string => reportedConditionOf(object)?.message ?? '';

/** The last read left resources out. */
export const wasIncomplete = (object: KubeObject): boolean => reportedConditionOf(object)?.status === 'False';

const reportedConditionOf = (object: KubeObject): Condition | undefined =>
  conditionsOf(object).find(({ type }) => type === inventoryComplete);

function explanationOf(missing: readonly MissingPart[]): Explanation {
  const [first] = missing;
  const count = missing.length === 1 ? '1 resource' : `${missing.length} resources`;
  return {
    reason: 'ResourcesUnreadable',
    message: `${count} cannot be read, first ${shortPath(first)} (${errorCodeOf(first)}); last known values are kept`,
  };
}

const errorCodeOf = (part: MissingPart | undefined): string =>
  part?.status === undefined || part.status < 400 ? (part?.code ?? '') : `HTTP ${part.status}`;

/** The end of a path identifies the resource. Non-ASCII characters and the query are left out: the BMC chooses them. */
function shortPath(part: MissingPart | undefined): string {
  const path = part?.path.split('?')[0]?.replaceAll(/[^\x21-\x7e]/g, '?') ?? '';
  return path.length > longestPath ? `…${path.slice(-longestPath)}` : path;
}

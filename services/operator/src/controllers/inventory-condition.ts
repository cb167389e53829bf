import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { MissingPart } from '@metal/redfish/resources/part-reader.ts';
import { condition, conditionsOf, type Explanation, type ReportedCondition } from './ready-condition.ts';

/** Whether everything that a BMC lists could be read. */
export const inventoryComplete = 'InventoryComplete';

const longestPath = 80;

/**
 * What a BMC answers for, and cannot give. Complete is worth a condition only where it once was not. Where nothing was read by
 * this process, what an earlier one said stays.
 */
export function inventoryCondition(
  object: KubeObject,
  missing: readonly MissingPart[] | undefined,
): ReportedCondition[] {
  const before = reportedConditionOf(object);
  if (missing === undefined)
    return before === undefined ? [] : [condition(object, inventoryComplete, before.status, before)];
  if (missing.length > 0) return [condition(object, inventoryComplete, 'False', explanationOf(missing))];
  if (before === undefined) return [];
  const message = 'every resource that the BMC lists could be read';
  return [condition(object, inventoryComplete, 'True', { reason: 'AllResourcesRead', message })];
}

/** Whether the status says it already. */
export function isInventoryReported(object: KubeObject, missing: readonly MissingPart[]): boolean {
  const before = reportedConditionOf(object);
  return inventoryCondition(object, missing).every(
    ({ status, message }) => before?.status === status && before.message === message,
  );
}

/** What the status says, to be compared. */
export const reportedInventory = (object: KubeObject): string => reportedConditionOf(object)?.message ?? '';

/** The last reading left something out. */
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

/** The end of a path tells what it is. What a BMC writes there is its own business; of a query nothing is said. */
function shortPath(part: MissingPart | undefined): string {
  const path = part?.path.split('?')[0]?.replaceAll(/[^\x21-\x7e]/g, '?') ?? '';
  return path.length > longestPath ? `…${path.slice(-longestPath)}` : path;
}

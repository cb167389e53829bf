import type { Bmc, CallOptions } from '../http/bmc.ts';
import type { AttributeChange, CompareOptions, Problem } from './attributes.ts';
import { compareManagerAttributes, requireManager, writeManagerAttributes } from './manager-attributes.ts';
import { compareResources, isResourceKey, writeResources } from './resource-settings.ts';

export interface BmcSettingsOptions extends CallOptions, Pick<CompareOptions, 'secretNames'> {}

export interface ComparedBmcSettings {
  /** In the order of their names. */
  readonly changes: AttributeChange[];
  readonly problems: Problem[];
  /** Attributes whose values wait for a restart of the BMC, in the groups of the desired ones; these by their desired names. */
  readonly pending: string[];
  /** A change takes effect with a restart of the BMC. */
  readonly needsReset: boolean;
  /** Version of the manager, if it was read for an attribute. */
  readonly firmware?: string | undefined;
}

/**
 * Compares the settings of a BMC. A name is that of an attribute of the manager, or `PATCH <path>` and `POST <path>` with a
 * JSON object as its value: a resource has these properties, or a collection has a member with them. On an iDRAC an attribute
 * may be named with its group: `System.Embedded.1/ServerPwr.1.PSRapidOn`.
 * @param managerUuid undefined: the manager that `findManager` takes for the BMC.
 */
export async function readBmcSettings(
  bmc: Bmc,
  managerUuid: string | undefined,
  desired: Readonly<Record<string, string>>,
  options: BmcSettingsOptions = {},
): Promise<ComparedBmcSettings> {
  const { attributes, resources } = split(desired);
  const [first, second] = [
    await compareManagerAttributes(bmc, managerUuid, attributes, options),
    await compareResources(bmc, resources, options),
  ];
  const changes = [...first.changes, ...second.changes].toSorted(byName);
  return {
    changes,
    problems: [...first.problems, ...second.problems].toSorted(byName),
    pending: first.pending,
    needsReset: changes.some(({ needsReset }) => needsReset),
    ...(first.firmware === undefined ? {} : { firmware: first.firmware }),
  };
}

/**
 * Sends the changes of `readBmcSettings`, one after the other in the order of their names, attributes first. After an error
 * the rest is not sent: read again.
 */
export async function writeBmcSettings(
  bmc: Bmc,
  managerUuid: string | undefined,
  desired: Readonly<Record<string, string>>,
  changes: readonly AttributeChange[],
  options: CallOptions = {},
): Promise<void> {
  const call = { priority: 'boot', ...options } as const;
  const ofResources = changes.filter(({ name }) => isResourceKey(name));
  await writeManagerAttributes(
    bmc,
    managerUuid,
    changes.filter(({ name }) => !isResourceKey(name)),
    call,
  );
  if (ofResources.length === 0) return;
  if (managerUuid !== undefined) await requireManager(bmc, managerUuid, call);
  await writeResources(bmc, desired, ofResources, call);
}

function split(desired: Readonly<Record<string, string>>) {
  const entries = Object.entries(desired);
  return {
    attributes: Object.fromEntries(entries.filter(([name]) => !isResourceKey(name))),
    resources: Object.fromEntries(entries.filter(([name]) => isResourceKey(name))),
  };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);

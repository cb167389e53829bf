import * as z from 'zod';
import type { Bmc, CallOptions, WriteOptions } from '../http/bmc.ts';
import { anything, flag } from '../fields.ts';
import type { attributeSettings } from '../schemas.ts';
import { attributesIn } from './attribute-registry.ts';
import { sameValue } from './attribute-values.ts';
import { withoutValues } from './without-values.ts';
import type { AttributeChange, AttributeRegistry, AttributeValue } from './attributes.ts';

/** A resource with attributes: a Bios, a Manager or a group of attributes. */
export interface AttributeHolder {
  readonly path: string;
  readonly etag: string | undefined;
  readonly current: Readonly<Record<string, AttributeValue>>;
  readonly settings: z.output<typeof attributeSettings>;
}

/** The object with the values that wait for a reset (Settings, DSP0268). */
const settingsObject = z.object({
  Attributes: anything,
  ResetBiosToDefaultsPending: flag,
  Actions: anything,
});

export interface SettingsObject {
  readonly path: string;
  readonly etag: string | undefined;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly isResetPending: boolean;
  readonly actions: unknown;
}

/** Undefined when the resource has none: then it is changed itself. */
export async function readSettingsObject(
  bmc: Bmc,
  { path, settings: { SettingsObject: at } }: AttributeHolder,
  options: CallOptions,
): Promise<SettingsObject | undefined> {
  if (at === undefined || at === path) return undefined;
  const { value, etag } = await bmc.read(at, settingsObject, options);
  return {
    path: at,
    etag,
    attributes: attributesIn(value.Attributes, at),
    isResetPending: value.ResetBiosToDefaultsPending === true,
    actions: value.Actions,
  };
}

/** Some BMCs list all attributes there: only those that differ from the current ones wait. Null is no value. */
export function pendingOf(
  current: Readonly<Record<string, AttributeValue>>,
  settings: SettingsObject | undefined,
  registry: AttributeRegistry | undefined,
): Record<string, AttributeValue> {
  return Object.fromEntries(
    Object.entries(settings?.attributes ?? {})
      .filter(([name, value]) => {
        const now = Object.hasOwn(current, name) ? current[name] : undefined;
        return value !== null && !sameValue(value, now, registry?.definitions.get(name));
      })
      .toSorted(byName),
  );
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

export type ApplyTime = 'OnReset' | 'Immediate';

/** Changes attributes, in the order of their names, with the apply time if the BMC supports it. `settings` was just read. */
export async function patchAttributes(
  bmc: Bmc,
  { holder, settings }: { readonly holder: AttributeHolder; readonly settings: SettingsObject | undefined },
  changes: readonly Pick<AttributeChange, 'name' | 'to'>[],
  applyTime: ApplyTime,
  options: WriteOptions,
): Promise<void> {
  const isSupported = holder.settings.SupportedApplyTimes?.includes(applyTime) === true;
  const body = {
    Attributes: Object.fromEntries(changes.map(({ name, to }): [string, unknown] => [name, to]).toSorted(byName)),
    ...(isSupported ? { '@Redfish.SettingsApplyTime': { ApplyTime: applyTime } } : {}),
  };
  const { path, etag } = settings ?? holder;
  await withoutValues(body, () => bmc.patch(path, body, { ...options, ifMatch: etag }));
}

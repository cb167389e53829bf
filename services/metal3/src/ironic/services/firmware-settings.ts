import type { SettingSchema } from '@metal/api/metal3/firmware-schema.ts';
import * as z from 'zod';
import { isPasswordName } from '../../firmware/setting-problem.ts';
import type { FirmwareSettings } from '../../provisioner/node-services.ts';

const number = z.number().nullish();
const flag = z.boolean().nullish();
const setting = z.object({
  name: z.string(),
  value: z.union([z.string(), z.number(), z.boolean()]).nullish(),
  attribute_type: z.string().nullish(),
  allowable_values: z.array(z.string()).nullish(),
  lower_bound: number,
  upper_bound: number,
  min_length: number,
  max_length: number,
  read_only: flag,
  unique: flag,
});
type Setting = z.output<typeof setting>;

/** The answer of Ironic to `GET /v1/nodes/<id>/bios?detail=true`. */
export const biosSettings = z.object({ bios: z.array(setting) });

const attributeTypes: readonly NonNullable<SettingSchema['attribute_type']>[] = [
  'Enumeration',
  'String',
  'Integer',
  'Boolean',
  'Password',
];

/** Settings and their schema. A setting without a type has none: the BMC has no attribute registry. */
export function settingsOf({ bios }: z.output<typeof biosSettings>): Pick<FirmwareSettings, 'settings' | 'schema'> {
  const shown = bios.filter(({ name }) => !isPasswordName(name));
  return {
    settings: Object.fromEntries(shown.map(({ name, value }) => [name, String(value ?? '')])),
    schema: Object.fromEntries(
      shown.flatMap((each) => (isDescribed(each) ? [[each.name, schemaOf(each)] as const] : [])),
    ),
  };
}

const isDescribed = ({ attribute_type: type }: Setting): boolean => type !== null && type !== undefined;

function schemaOf(found: Setting): SettingSchema {
  const type = attributeTypes.find((known) => known === found.attribute_type);
  const given = Object.entries(limitsOf(found)).filter(([, limit]) => limit !== null && limit !== undefined);
  return { ...(type === undefined ? {} : { attribute_type: type }), ...Object.fromEntries(given) };
}

const limitsOf = (found: Setting) => ({
  allowable_values: found.allowable_values,
  lower_bound: found.lower_bound,
  upper_bound: found.upper_bound,
  min_length: found.min_length,
  max_length: found.max_length,
  read_only: found.read_only,
  unique: found.unique,
});

import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { defaulted } from '../common/fields.ts';
import { metal3Group, metal3Version } from './fields.ts';

const settingSchema = () =>
  z.object({
    allowable_values: z.array(z.string()).optional().describe('Values of an Enumeration.'),
    attribute_type: z
      .enum(['Enumeration', 'String', 'Integer', 'Boolean', 'Password'])
      .optional()
      .describe('Type of the setting.'),
    lower_bound: z.int().optional().describe('Smallest Integer.'),
    max_length: z.int().optional().describe('Greatest length of a String.'),
    min_length: z.int().optional().describe('Smallest length of a String.'),
    read_only: z.boolean().optional().describe('The setting cannot be changed.'),
    unique: z.boolean().optional().describe('The value is specific to this machine.'),
    upper_bound: z.int().optional().describe('Greatest Integer.'),
  });
export type SettingSchema = z.output<ReturnType<typeof settingSchema>>;

/** Types and limits of BIOS settings. Equal machines share one. */
export const FirmwareSchema = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'FirmwareSchema',
  plural: 'firmwareschemas',
  scope: 'Namespaced',
  description: 'Types and limits of BIOS settings. Equal machines share one.',
  hasStatusSubresource: false,
  columns: {},
  fields: {
    spec: defaulted(
      z
        .object({
          hardwareModel: z.string().optional().describe('Model of the machines.'),
          hardwareVendor: z.string().optional().describe('Vendor of the machines.'),
          schema: z.record(z.string(), settingSchema()).describe('Settings, by name.'),
        })
        .describe('Types and limits.'),
      { schema: {} },
    ),
  },
});
export type FirmwareSchema = ObjectOf<typeof FirmwareSchema>;

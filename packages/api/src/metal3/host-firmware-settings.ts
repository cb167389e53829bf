import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { conditions, defaulted, time } from '../common/fields.ts';
import { metal3Group, metal3Version, namespacedName } from './fields.ts';

const intOrString = () => z.union([z.int(), z.string()]).meta({ 'x-kubernetes-int-or-string': true });

/** BIOS settings of the BareMetalHost of the same name. */
export const HostFirmwareSettings = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'HostFirmwareSettings',
  plural: 'hostfirmwaresettings',
  shortNames: ['hfs'],
  scope: 'Namespaced',
  description: 'BIOS settings of the BareMetalHost of the same name.',
  columns: {},
  fields: {
    spec: defaulted(
      z
        .object({
          settings: z
            .record(z.string(), intOrString())
            .describe('Desired values, by the names of the BIOS attributes.'),
        })
        .describe('Desired settings.'),
      { settings: {} },
    ),
    status: z
      .object({
        conditions: conditions(),
        lastUpdated: time().optional().describe('Time of the last change of the status.'),
        schema: namespacedName('FirmwareSchema').optional().describe('FirmwareSchema of the settings.'),
        settings: z.record(z.string(), z.string()).describe('Values in use.'),
      })
      .optional()
      .describe('Observed settings.'),
  },
});
export type HostFirmwareSettings = ObjectOf<typeof HostFirmwareSettings>;

import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { conditions, defaulted, time } from '../common/fields.ts';
import { metal3Group, metal3Version } from './fields.ts';

const updates = () =>
  z.array(
    z.object({
      component: z.string().describe('Component: bios, bmc, or nic: with the name of an adapter.'),
      url: z.string().describe('URL of the firmware.'),
    }),
  );

const component = () =>
  z.object({
    component: z.string().describe('Component.'),
    currentVersion: z.string().optional().describe('Version in use.'),
    initialVersion: z.string().describe('Version at the first observation.'),
    lastVersionFlashed: z.string().optional().describe('Version of the last update.'),
    updatedAt: time().optional().describe('Time of the last update.'),
  });

/** Firmware updates of the BareMetalHost of the same name. */
export const HostFirmwareComponents = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'HostFirmwareComponents',
  plural: 'hostfirmwarecomponents',
  scope: 'Namespaced',
  description: 'Firmware updates of the BareMetalHost of the same name.',
  columns: {},
  fields: {
    spec: defaulted(z.object({ updates: updates().describe('Desired updates.') }).describe('Desired updates.'), {
      updates: [],
    }),
    status: z
      .object({
        components: z.array(component()).optional().describe('Components, with their versions.'),
        conditions: conditions(),
        lastUpdated: time().optional().describe('Time of the last change of the status.'),
        updates: updates().optional().describe('Last updates that were started.'),
      })
      .optional()
      .describe('Observed components.'),
  },
});
export type HostFirmwareComponents = ObjectOf<typeof HostFirmwareComponents>;

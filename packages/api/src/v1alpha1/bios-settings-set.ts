import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted, group, labelSelector, readyColumns, version } from '../common/fields.ts';
import { biosTemplate, dryRun } from './day-two-fields.ts';
import { rollout, setColumns, setStatus } from './set-fields.ts';

/** BIOS settings of many servers. */
export const BIOSSettingsSet = defineKind({
  group,
  version,
  kind: 'BIOSSettingsSet',
  plural: 'biossettingssets',
  shortNames: ['biosss'],
  scope: 'Cluster',
  description: 'BIOS settings of all servers that match a selector.',
  columns: {
    ...setColumns(
      'BIOSSettings',
      'Servers',
      { BIOSVersion: '.spec.biosSettingsTemplate.version' },
      { name: 'TotalServers', type: 'string' },
      'string',
    ),
    ...age,
    ...readyColumns,
  },
  fields: {
    spec: defaulted(
      z
        .object({
          serverSelector: labelSelector().describe('Selector of the servers.'),
          biosSettingsTemplate: z.object(biosTemplate()).optional().describe('Template of the settings objects.'),
          rollout: rollout(),
          dryRun: dryRun(),
        })
        .describe('Desired state.'),
      { serverSelector: {} },
    ),
    status: setStatus('BIOSSettings', 'Servers'),
  },
});
export type BIOSSettingsSet = ObjectOf<typeof BIOSSettingsSet>;

import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted, group, labelSelector, readyColumns, version } from '../common/fields.ts';
import { bmcSettingsTemplate, dryRun, uniqueVariables } from './day-two-fields.ts';
import { rollout, setColumns, setStatus } from './set-fields.ts';

/** Settings of many BMCs. */
export const BMCSettingsSet = defineKind({
  group,
  version,
  kind: 'BMCSettingsSet',
  plural: 'bmcsettingssets',
  scope: 'Cluster',
  description: 'Settings of all BMCs that match a selector.',
  columns: {
    ...setColumns(
      'BMCSettings',
      'BMCs',
      { BMCVersion: '.spec.bmcSettingsTemplate.version' },
      { name: 'TotalBMCs', type: 'integer' },
      'integer',
    ),
    ...age,
    ...readyColumns,
  },
  fields: {
    spec: defaulted(
      z
        .object({
          bmcSelector: labelSelector().describe('Selector of the BMCs.'),
          bmcSettingsTemplate: uniqueVariables(z.object(bmcSettingsTemplate())).describe(
            'Template of the settings objects.',
          ),
          rollout: rollout(),
          dryRun: dryRun(),
        })
        .describe('Desired state.'),
      { bmcSelector: {}, bmcSettingsTemplate: { version: '' } },
    ),
    status: setStatus('BMCSettings', 'BMCs'),
  },
});
export type BMCSettingsSet = ObjectOf<typeof BMCSettingsSet>;

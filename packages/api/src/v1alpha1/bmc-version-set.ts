import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted, group, labelSelector, readyColumns, version } from '../common/fields.ts';
import { dryRun, versionTemplate } from './day-two-fields.ts';
import { rollout, setColumns, setStatus } from './set-fields.ts';

/** Firmware version of many BMCs. */
export const BMCVersionSet = defineKind({
  group,
  version,
  kind: 'BMCVersionSet',
  plural: 'bmcversionsets',
  shortNames: ['bmcvs'],
  scope: 'Cluster',
  description: 'Firmware version of all BMCs that match a selector.',
  columns: {
    ...setColumns(
      'BMCVersion',
      'BMCs',
      { BMCVersion: '.spec.bmcVersionTemplate.version' },
      { name: 'selectedBMCs', type: 'integer' },
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
          bmcVersionTemplate: z.object(versionTemplate()).optional().describe('Template of the version objects.'),
          rollout: rollout(),
          dryRun: dryRun(),
        })
        .describe('Desired state.'),
      { bmcSelector: {} },
    ),
    status: setStatus('BMCVersion', 'BMCs'),
  },
});
export type BMCVersionSet = ObjectOf<typeof BMCVersionSet>;

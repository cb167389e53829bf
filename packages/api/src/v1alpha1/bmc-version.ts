import { immutable } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted, group, localRef, objectRef, readyColumns, version } from '../common/fields.ts';
import { versionTemplate } from './day-two-fields.ts';
import { versionStatus, workStatus } from './update-status.ts';

/** Firmware version of one BMC. */
export const BMCVersion = defineKind({
  group,
  version,
  kind: 'BMCVersion',
  plural: 'bmcversions',
  shortNames: ['bmcv'],
  scope: 'Cluster',
  description: 'Firmware version of one BMC.',
  columns: {
    BMCVersion: '.spec.version',
    UpdatePolicy: '.spec.updatePolicy',
    BMCRef: '.spec.bmcRef.name',
    TaskProgress: { path: '.status.upgradeTask.percentageComplete', type: 'integer' },
    TaskState: '.status.upgradeTask.state',
    TaskStatus: '.status.upgradeTask.status',
    State: '.status.state',
    ...age,
    Installed: '.status.installedVersion',
    ...readyColumns,
  },
  fields: {
    spec: defaulted(
      z
        .object({
          ...versionTemplate(),
          bmcRef: immutable(localRef(), 'bmcRef').optional().describe('BMC that the version applies to. Immutable.'),
          serverMaintenanceRefs: z
            .array(objectRef())
            .optional()
            .describe('ServerMaintenances during which the change is made.'),
        })
        .describe('Desired state.'),
      { version: '', image: { URI: '' } },
    ),
    status: z
      .object({ ...workStatus(), ...versionStatus() })
      .optional()
      .describe('Observed state.'),
  },
});
export type BMCVersion = ObjectOf<typeof BMCVersion>;

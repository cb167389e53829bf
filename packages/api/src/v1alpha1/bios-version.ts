import { immutable } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted, group, localRef, readyColumns, version } from '../common/fields.ts';
import { maintenanceRef, versionTemplate } from './day-two-fields.ts';
import { versionStatus, workStatus } from './update-status.ts';

/** BIOS version of one server. */
export const BIOSVersion = defineKind({
  group,
  version,
  kind: 'BIOSVersion',
  plural: 'biosversions',
  shortNames: ['biosv'],
  scope: 'Cluster',
  description: 'BIOS version of one server.',
  columns: {
    BIOSVersion: '.spec.version',
    UpdatePolicy: '.spec.updatePolicy',
    ServerRef: '.spec.serverRef.name',
    ServerMaintenanceRef: '.spec.serverMaintenanceRef.name',
    TaskState: '.status.upgradeTask.state',
    TaskStatus: '.status.upgradeTask.status',
    TaskProgress: { path: '.status.upgradeTask.percentageComplete', type: 'integer' },
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
          serverRef: immutable(localRef(), 'serverRef')
            .optional()
            .describe('Server that the version applies to. Immutable.'),
          serverMaintenanceRef: maintenanceRef(),
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
export type BIOSVersion = ObjectOf<typeof BIOSVersion>;

import { immutable } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, group, localRef, readyColumns, version } from '../common/fields.ts';
import { firmwareTemplate } from './day-two-fields.ts';
import { versionStatus, workStatus } from './update-status.ts';

/** Firmware of one component of a server: a network adapter, a drive, a power supply. An addition to v0.7.0. */
export const FirmwareVersion = defineKind({
  group,
  version,
  kind: 'FirmwareVersion',
  plural: 'firmwareversions',
  shortNames: ['fwv'],
  scope: 'Cluster',
  description: 'Firmware version of components of one server.',
  columns: {
    Version: '.spec.version',
    Installed: '.status.installedVersion',
    ServerRef: '.spec.serverRef.name',
    TaskState: '.status.upgradeTask.state',
    TaskProgress: { path: '.status.upgradeTask.percentageComplete', type: 'integer' },
    State: '.status.state',
    ...age,
    ...readyColumns,
  },
  fields: {
    spec: z
      .object({
        ...firmwareTemplate(),
        serverRef: immutable(localRef(), 'serverRef').describe('Server that the version applies to. Immutable.'),
      })
      .describe('Desired state.'),
    status: z
      .object({ ...workStatus(), ...versionStatus() })
      .optional()
      .describe('Observed state.'),
  },
});
export type FirmwareVersion = ObjectOf<typeof FirmwareVersion>;

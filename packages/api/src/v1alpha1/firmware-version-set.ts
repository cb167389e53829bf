import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, group, labelSelector, readyColumns, version } from '../common/fields.ts';
import { dryRun, firmwareTemplate } from './day-two-fields.ts';
import { rollout, setColumns, setStatus } from './set-fields.ts';

/** Firmware of components of many servers. An addition to v0.7.0. */
export const FirmwareVersionSet = defineKind({
  group,
  version,
  kind: 'FirmwareVersionSet',
  plural: 'firmwareversionsets',
  shortNames: ['fwvs'],
  scope: 'Cluster',
  description: 'Firmware version of components of all servers that match a selector.',
  columns: {
    ...setColumns(
      'FirmwareVersion',
      'Servers',
      { Version: '.spec.firmwareVersionTemplate.version' },
      { name: 'SelectedServers', type: 'integer' },
      'integer',
    ),
    ...age,
    ...readyColumns,
  },
  fields: {
    spec: z
      .object({
        serverSelector: labelSelector().describe('Selector of the servers.'),
        firmwareVersionTemplate: z.object(firmwareTemplate()).describe('Template of the version objects.'),
        rollout: rollout(),
        dryRun: dryRun(),
      })
      .describe('Desired state.'),
    status: setStatus('FirmwareVersion', 'Servers'),
  },
});
export type FirmwareVersionSet = ObjectOf<typeof FirmwareVersionSet>;

import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted, group, labelSelector, readyColumns, version } from '../common/fields.ts';
import { dryRun, versionTemplate } from './day-two-fields.ts';
import { rollout, setColumns, setStatus } from './set-fields.ts';

/** BIOS version of many servers. */
export const BIOSVersionSet = defineKind({
  group,
  version,
  kind: 'BIOSVersionSet',
  plural: 'biosversionsets',
  shortNames: ['biosvs'],
  scope: 'Cluster',
  description: 'BIOS version of all servers that match a selector.',
  columns: {
    ...setColumns(
      'BIOSVersion',
      'Servers',
      { BIOSVersion: '.spec.biosVersionTemplate.version' },
      { name: 'selectedServers', type: 'integer' },
      'integer',
    ),
    ...age,
    ...readyColumns,
  },
  fields: {
    spec: defaulted(
      z
        .object({
          serverSelector: labelSelector().describe('Selector of the servers.'),
          biosVersionTemplate: z.object(versionTemplate()).optional().describe('Template of the version objects.'),
          rollout: rollout(),
          dryRun: dryRun(),
        })
        .describe('Desired state.'),
      { serverSelector: {} },
    ),
    status: setStatus('BIOSVersion', 'Servers'),
  },
});
export type BIOSVersionSet = ObjectOf<typeof BIOSVersionSet>;

import { immutable } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { defaulted, group, localRef, objectRef, version } from '../common/fields.ts';
import { bmcSettingsTemplate, uniqueVariables, workStatus } from './day-two-fields.ts';

const spec = z.object({
  ...bmcSettingsTemplate(),
  BMCRef: immutable(localRef(), 'BMCRef').describe('BMC the settings are for.'),
  serverMaintenanceRefs: z
    .array(z.object({ serverMaintenanceRef: objectRef().optional().describe('A maintenance.') }))
    .optional()
    .describe('Maintenances the work happens in.'),
});

/** Settings of one BMC. */
export const BMCSettings = defineKind({
  group,
  version,
  kind: 'BMCSettings',
  plural: 'bmcsettings',
  scope: 'Cluster',
  description: 'Settings of one BMC.',
  columns: { BMCVersion: '.spec.version', State: '.status.state', BMCRef: '.spec.BMCRef.name' },
  fields: {
    spec: defaulted(uniqueVariables(spec).describe('What is wanted.'), { version: '', BMCRef: { name: '' } }),
    status: z.object(workStatus()).optional().describe('How far it is.'),
  },
});
export type BMCSettings = ObjectOf<typeof BMCSettings>;

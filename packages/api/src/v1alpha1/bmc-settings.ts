import { immutable } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { defaulted, group, localRef, objectRef, readyColumns, version } from '../common/fields.ts';
import { bmcSettingsTemplate, uniqueVariables } from './day-two-fields.ts';
import { workStatus } from './update-status.ts';

const spec = z.object({
  ...bmcSettingsTemplate(),
  BMCRef: immutable(localRef(), 'BMCRef').describe('BMC that the settings apply to. Immutable.'),
  serverMaintenanceRefs: z
    .array(z.object({ serverMaintenanceRef: objectRef().optional().describe('Reference to a ServerMaintenance.') }))
    .optional()
    .describe('ServerMaintenances during which the change is made.'),
});

/** Settings of one BMC. */
export const BMCSettings = defineKind({
  group,
  version,
  kind: 'BMCSettings',
  plural: 'bmcsettings',
  scope: 'Cluster',
  description: 'Settings of one BMC.',
  columns: { BMCVersion: '.spec.version', State: '.status.state', BMCRef: '.spec.BMCRef.name', ...readyColumns },
  fields: {
    spec: defaulted(uniqueVariables(spec).describe('Desired state.'), { version: '', BMCRef: { name: '' } }),
    status: z.object(workStatus()).optional().describe('Observed state.'),
  },
});
export type BMCSettings = ObjectOf<typeof BMCSettings>;

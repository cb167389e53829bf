import { immutable } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted, group, int32, localRef, plainConditions, time, version } from '../common/fields.ts';
import { biosTemplate, flowStatus, maintenanceRef, workStatus } from './day-two-fields.ts';

const spec = z.object({
  ...biosTemplate(),
  serverRef: immutable(localRef(), 'serverRef').optional().describe('Server the settings are for.'),
  serverMaintenanceRef: maintenanceRef(),
});

const step = z.object({
  name: z.string().optional().describe('Name of the step.'),
  priority: int32().optional().describe('Its place.'),
  flowState: z.string().optional().describe('How far it is.'),
  lastAppliedTime: time().optional().describe('When it was applied.'),
  conditions: plainConditions(),
});

/** BIOS settings of one server. */
export const BIOSSettings = defineKind({
  group,
  version,
  kind: 'BIOSSettings',
  plural: 'biossettings',
  shortNames: ['bioss'],
  scope: 'Cluster',
  description: 'BIOS settings of one server.',
  columns: {
    BIOSVersion: '.spec.version',
    ServerRef: '.spec.serverRef.name',
    ServerMaintenanceRef: '.spec.serverMaintenanceRef.name',
    State: '.status.state',
    AppliedOn: { path: '.status.lastAppliedTime', type: 'date' },
    ...age,
  },
  fields: {
    spec: defaulted(spec.describe('What is wanted.'), { version: '' }),
    status: z
      .object({ ...workStatus(), ...flowStatus(), flowState: z.array(step).optional().describe('The steps.') })
      .optional()
      .describe('How far it is.'),
  },
});
export type BIOSSettings = ObjectOf<typeof BIOSSettings>;

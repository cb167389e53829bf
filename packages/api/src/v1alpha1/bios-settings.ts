import { immutable } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import {
  age,
  defaulted,
  group,
  int32,
  localRef,
  plainConditions,
  readyColumns,
  time,
  version,
} from '../common/fields.ts';
import { biosTemplate, maintenanceRef } from './day-two-fields.ts';
import { flowStatus, workStatus } from './update-status.ts';

const spec = z.object({
  ...biosTemplate(),
  serverRef: immutable(localRef(), 'serverRef').optional().describe('Server that the settings apply to. Immutable.'),
  serverMaintenanceRef: maintenanceRef(),
});

const step = z.object({
  name: z.string().optional().describe('Name of the step.'),
  priority: int32().optional().describe('Priority of the step. Lower values are applied first.'),
  flowState: z.string().optional().describe('Observed state.'),
  lastAppliedTime: time().optional().describe('Time at which the step was applied.'),
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
    ...readyColumns,
  },
  fields: {
    spec: defaulted(spec.describe('Desired state.'), { version: '' }),
    status: z
      .object({
        ...workStatus(),
        ...flowStatus(),
        flowState: z.array(step).optional().describe('Status of each step.'),
      })
      .optional()
      .describe('Observed state.'),
  },
});
export type BIOSSettings = ObjectOf<typeof BIOSSettings>;

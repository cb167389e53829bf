import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, conditions, defaulted, group, int32, localRef, readyColumns, version } from '../common/fields.ts';
import { bootConfigurationSpec } from './server-boot-configuration.ts';

const spec = z.object({
  policy: z
    .string()
    .optional()
    .describe(
      'OwnerApproval: wait for the approval of the claim owner. Enforced: start without approval. Default: OwnerApproval.',
    ),
  serverRef: localRef().describe('Server under maintenance.'),
  serverPower: z
    .string()
    .optional()
    .describe(
      'Desired power state during the maintenance: On or Off. Default: On with a boot configuration, else unchanged.',
    ),
  locatorLED: z
    .string()
    .optional()
    .describe('Desired state of the locator LED during the maintenance: Lit, Blinking or Off.'),
  priority: defaulted(int32().describe('Priority. Higher values go first. Default: 0.'), 0).optional(),
  serverBootConfigurationTemplate: z
    .object({
      name: z
        .string()
        .describe('Not used: the ServerBootConfiguration has the name and the namespace of the ServerMaintenance.'),
      spec: bootConfigurationSpec().describe('Desired boot.'),
    })
    .optional()
    .describe('Boot configuration during the maintenance.'),
});

/** A maintenance window of a server. */
export const ServerMaintenance = defineKind({
  group,
  version,
  kind: 'ServerMaintenance',
  plural: 'servermaintenances',
  shortNames: ['sm'],
  scope: 'Namespaced',
  description: 'Maintenance window of a server.',
  columns: {
    Server: '.spec.serverRef.name',
    Policy: '.spec.policy',
    BootConfiguration: '.spec.serverBootConfigurationTemplate.name',
    Reason: '.metadata.annotations.metal\\.ironcore\\.dev\\/reason',
    State: '.status.state',
    Priority: { path: '.spec.priority', type: 'integer' },
    ...age,
    Message: { ...readyColumns.Message, priority: 0 },
  },
  fields: {
    spec: defaulted(spec.describe('Desired state.'), { serverRef: { name: '' } }),
    status: z
      .object({
        state: z.string().optional().describe('Observed state: Pending, InMaintenance or Failed.'),
        conditions: conditions(),
      })
      .optional()
      .describe('Observed state.'),
  },
});
export type ServerMaintenance = ObjectOf<typeof ServerMaintenance>;

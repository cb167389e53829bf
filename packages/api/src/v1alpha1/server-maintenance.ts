import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted, group, int32, localRef, version } from '../common/fields.ts';
import { bootConfigurationSpec } from './server-boot-configuration.ts';

const spec = z.object({
  policy: z.string().optional().describe('OwnerApproval waits for the consent of the claim; Enforced does not.'),
  serverRef: localRef().describe('Server to be maintained.'),
  serverPower: z.string().optional().describe('Power state during the maintenance.'),
  locatorLED: z.string().optional().describe('Locator light during the maintenance.'),
  priority: defaulted(int32().describe('Higher goes first.'), 0).optional(),
  serverBootConfigurationTemplate: z
    .object({
      name: z.string().describe('Name of the boot configuration.'),
      spec: bootConfigurationSpec().describe('What is booted.'),
    })
    .optional()
    .describe('What the server boots during the maintenance.'),
});

/** A window in which somebody works on a server. */
export const ServerMaintenance = defineKind({
  group,
  version,
  kind: 'ServerMaintenance',
  plural: 'servermaintenances',
  shortNames: ['sm'],
  scope: 'Namespaced',
  description: 'A window in which somebody works on a server.',
  columns: {
    Server: '.spec.serverRef.name',
    Policy: '.spec.policy',
    BootConfiguration: '.spec.serverBootConfigurationTemplate.name',
    Reason: '.metadata.annotations.metal\\.ironcore\\.dev\\/reason',
    State: '.status.state',
    Priority: { path: '.spec.priority', type: 'integer' },
    ...age,
  },
  fields: {
    spec: defaulted(spec.describe('What is planned.'), { serverRef: { name: '' } }),
    status: z
      .object({ state: z.string().optional().describe('How far it is.') })
      .optional()
      .describe('How far it is.'),
  },
});
export type ServerMaintenance = ObjectOf<typeof ServerMaintenance>;

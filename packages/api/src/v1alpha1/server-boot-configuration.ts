import { defineKind } from '@metal/kube/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kind.ts';
import * as z from 'zod';
import { age, conditions, group, localRef, version } from '../common/fields.ts';

export const bootConfigurationSpec = () =>
  z.object({
    serverRef: localRef().describe('Server that boots.'),
    image: z.string().optional().describe('Image it boots.'),
    ignitionSecretRef: localRef()
      .optional()
      .describe('Secret with the first-boot configuration under the key ignition.'),
  });

const status = z.object({
  state: z.string().optional().describe('Pending, Ready once a boot service has prepared it, or Error.'),
  conditions: conditions(),
});

/** One boot of one server: what it boots, whether that is prepared, and how far it got. */
export const ServerBootConfiguration = defineKind({
  group,
  version,
  kind: 'ServerBootConfiguration',
  plural: 'serverbootconfigurations',
  shortNames: ['sbc'],
  scope: 'Namespaced',
  description: 'What a server boots. A boot service prepares it and says Ready; only then is the server powered on.',
  columns: {
    ServerRef: '.spec.serverRef.name',
    Image: '.spec.image',
    IgnitionRef: '.spec.ignitionSecretRef.name',
    State: '.status.state',
    ...age,
  },
  fields: {
    spec: bootConfigurationSpec().describe('What is booted.'),
    status: status.optional().describe('How far it is.'),
  },
});
export type ServerBootConfiguration = ObjectOf<typeof ServerBootConfiguration>;

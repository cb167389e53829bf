import * as z from 'zod';
import { localRef, plainConditions } from './fields.ts';

/** Fields that the kinds of boot.ironcore.dev/v1alpha1 share. */

export const bootGroup = 'boot.ironcore.dev';

export const commonBootFields = () => ({
  systemUUID: z.string().optional().describe('System UUID of the machine.'),
  ignitionSecretRef: localRef()
    .optional()
    .describe('Secret in the same namespace with the first-boot configuration, under the keys format and ignition.'),
});

export const bootConfigStatus = () =>
  z
    .object({
      state: z.string().optional().describe('State: Pending, Ready or Error.'),
      conditions: plainConditions(),
    })
    .optional()
    .describe('Observed state.');

export const bootConfigColumns = {
  State: '.status.state',
  Age: { path: '.metadata.creationTimestamp', type: 'date' },
} as const;

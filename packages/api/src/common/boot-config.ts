import * as z from 'zod';
import { localRef, plainConditions } from './fields.ts';

/** What the kinds of boot.ironcore.dev/v1alpha1 have in common. */

export const bootGroup = 'boot.ironcore.dev';

export const commonBootFields = () => ({
  systemUUID: z.string().optional().describe('System UUID of the machine.'),
  ignitionSecretRef: localRef()
    .optional()
    .describe('Secret in the same namespace with the first-boot configuration: keys format and ignition.'),
});

export const bootConfigStatus = () =>
  z
    .object({
      state: z.string().optional().describe('Pending, Ready or Error.'),
      conditions: plainConditions(),
    })
    .optional()
    .describe('How far it is.');

export const bootConfigColumns = {
  State: '.status.state',
  Age: { path: '.metadata.creationTimestamp', type: 'date' },
} as const;

import { apiDefault } from '@metal/kube/cel.ts';
import * as z from 'zod';

const effect = z.enum(['NoBind', 'Evict']);

/** Keeps claims away from a server that do not tolerate it. */
export const taint = z.object({
  key: z.string().min(1).describe('Name of the taint; tolerations refer to it.'),
  value: z.string().optional().describe('Value that a toleration with operator Equal must repeat.'),
  effect: apiDefault(effect, 'NoBind').describe(
    'NoBind: no new claim gets the server. Evict: reserved, without effect so far.',
  ),
});

/** Lets a claim use servers in spite of a taint. */
export const toleration = z.object({
  key: z.string().min(1).describe('Key of the tolerated taint.'),
  operator: z
    .enum(['Equal', 'Exists'])
    .optional()
    .describe('Exists tolerates any value; Equal (the meaning of an absent operator) only the same value.'),
  value: z.string().optional().describe('Value to compare with when the operator is Equal.'),
  effect: effect.optional().describe('Tolerates only this effect; absent, every effect.'),
});

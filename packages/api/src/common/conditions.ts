import { hinted } from '@metal/kube/cel.ts';
import * as z from 'zod';
import { int64, time } from './scalars.ts';

const typePattern =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';
const reasonPattern = '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$';

/** metav1.Condition. */
export const condition = z.object({
  type: z.string().max(316).regex(new RegExp(typePattern)).describe('What the condition is about.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(new RegExp(reasonPattern))
    .describe('One word for why: the same in events and logs.'),
  message: z.string().max(32768).describe('The reason in a sentence, with what was last seen and what happens next.'),
  lastTransitionTime: time.describe('When the status last changed.'),
  observedGeneration: int64.min(0).optional().describe('Generation of the object that this was judged on.'),
});

/** Conditions, one per type, so that several writers can each apply their own. */
export const conditions = hinted(z.array(condition), {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
});

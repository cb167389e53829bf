import { hinted } from '@metal/kube/cel.ts';
import * as z from 'zod';

const requirement = z.object({
  key: z.string().describe('Label the requirement is about.'),
  operator: z.string().describe('In, NotIn, Exists or DoesNotExist.'),
  values: hinted(z.array(z.string()), { 'x-kubernetes-list-type': 'atomic' })
    .optional()
    .describe('Values for In and NotIn; empty for the other operators.'),
});

/** metav1.LabelSelector. All parts must match; an empty selector matches everything. */
export const labelSelector = hinted(
  z.object({
    matchLabels: z.record(z.string(), z.string()).optional().describe('Labels that must have exactly these values.'),
    matchExpressions: hinted(z.array(requirement), { 'x-kubernetes-list-type': 'atomic' })
      .optional()
      .describe('Requirements on labels, all of which must hold.'),
  }),
  { 'x-kubernetes-map-type': 'atomic' },
);

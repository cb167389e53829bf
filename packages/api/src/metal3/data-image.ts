import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { defaulted, time } from '../common/fields.ts';
import { metal3Group, metal3Version } from './fields.ts';

/** A CD-ROM image in the virtual drive of the provisioned BareMetalHost of the same name. */
export const DataImage = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'DataImage',
  plural: 'dataimages',
  scope: 'Namespaced',
  description:
    'CD-ROM image in the virtual drive of the provisioned BareMetalHost of the same name, inserted when the host is powered on.',
  columns: {},
  fields: {
    spec: defaulted(z.object({ url: z.string().describe('URL of the image.') }).describe('Desired image.'), {
      url: '',
    }),
    status: z
      .object({
        attachedImage: z
          .object({ url: z.string().describe('URL of the image.') })
          .optional()
          .describe('Image in the drive.'),
        error: z
          .object({
            count: z.int().describe('Failures since the last success.'),
            message: z.string().describe('Message of the last failure.'),
          })
          .optional()
          .describe('Last failure.'),
        lastReconciled: time().optional().describe('Time of the last comparison with the drive.'),
      })
      .optional()
      .describe('Observed state.'),
  },
});
export type DataImage = ObjectOf<typeof DataImage>;

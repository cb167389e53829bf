import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, group, version } from '../common/fields.ts';

/** Credentials of BMCs: keys `username` and `password`. */
export const BMCSecret = defineKind({
  group,
  version,
  kind: 'BMCSecret',
  plural: 'bmcsecrets',
  shortNames: ['bmcsec'],
  scope: 'Cluster',
  description: 'Credentials of a BMC under the keys username and password, shaped like a Secret.',
  columns: age,
  fields: {
    immutable: z.boolean().optional().describe('Once true, neither this nor the data can be changed.'),
    data: z
      .record(z.string(), z.string().meta({ format: 'byte' }))
      .optional()
      .describe('Values in base64.'),
    stringData: z.record(z.string(), z.string()).optional().describe('Values in clear text; data wins over them.'),
    type: z.string().optional().describe('Free for programs to tell secrets apart.'),
  },
  // That data stays is an admission policy: CEL in a CRD decodes it, as URL-safe base64, and fails at a + or a /.
  rules: [
    {
      rule: '!has(oldSelf.immutable) || !oldSelf.immutable || (has(self.immutable) && self.immutable)',
      message: 'immutable field cannot be changed from true to false',
    },
    {
      rule: '!has(oldSelf.immutable) || !oldSelf.immutable || (has(self.stringData) == has(oldSelf.stringData) && (!has(self.stringData) || self.stringData == oldSelf.stringData))',
      message: 'stringData field is immutable and cannot be updated',
    },
  ],
});
export type BMCSecret = ObjectOf<typeof BMCSecret>;

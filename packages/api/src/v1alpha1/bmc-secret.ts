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
    immutable: z
      .boolean()
      .optional()
      .describe('If true, neither the data nor this field can be changed. Default: false.'),
    data: z
      .record(z.string(), z.string().meta({ format: 'byte' }))
      .optional()
      .describe('Values in base64, by key.'),
    stringData: z
      .record(z.string(), z.string())
      .optional()
      .describe('Values in clear text, by key. data takes precedence.'),
    type: z.string().optional().describe('Type of the secret, for use by programs.'),
  },
  // An admission policy keeps data immutable: CEL in a CRD decodes it as URL-safe base64 and fails at a + or a /.
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

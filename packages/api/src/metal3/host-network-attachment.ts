import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted } from '../common/fields.ts';
import { metal3Group, metal3Version } from './fields.ts';

/** VLANs of a switch port. */
export const HostNetworkAttachment = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'HostNetworkAttachment',
  plural: 'hostnetworkattachments',
  scope: 'Namespaced',
  description: 'VLANs of a switch port. No controller reads it.',
  columns: {
    Mode: '.spec.mode',
    'Native VLAN': { path: '.spec.nativeVLAN', type: 'integer' },
    ...age,
  },
  fields: {
    spec: z
      .object({
        allowedVLANs: z
          .array(z.string().regex(/^\d+(-\d+)?$/))
          .optional()
          .describe('Tagged VLANs and ranges of them, for trunk and hybrid.'),
        mode: defaulted(z.enum(['access', 'trunk', 'hybrid']).describe('Mode of the port.'), 'access'),
        mtu: z.int().min(68).max(9_216).optional().describe('Maximum transmission unit.'),
        nativeVLAN: z.int().min(1).max(4_094).describe('Untagged VLAN.'),
      })
      .optional()
      .describe('Desired state of the port.'),
    status: z.object({}).optional().describe('Not used.'),
  },
});
export type HostNetworkAttachment = ObjectOf<typeof HostNetworkAttachment>;

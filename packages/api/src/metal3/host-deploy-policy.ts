import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { defaulted } from '../common/fields.ts';
import { metal3Group, metal3Version } from './fields.ts';

const namespaces = () =>
  z.object({
    hasLabels: z
      .array(
        z.object({
          name: z.string().describe('Label key.'),
          value: z.string().optional().describe('Label value. Empty: any.'),
        }),
      )
      .optional()
      .describe('Labels of the namespace.'),
    nameMatches: z.string().optional().describe('Regular expression for the name.'),
    names: z.array(z.string()).optional().describe('Names.'),
  });

/** The namespaces whose HostClaims may get BareMetalHosts of this namespace. */
export const HostDeployPolicy = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'HostDeployPolicy',
  plural: 'hostdeploypolicies',
  scope: 'Namespaced',
  description: 'Namespaces whose HostClaims may get BareMetalHosts of this namespace. No controller reads it.',
  columns: {},
  fields: {
    spec: defaulted(
      z
        .object({
          hostClaimNamespaces: namespaces().optional().describe('Namespaces. All given conditions must match.'),
        })
        .describe('Policy.'),
      {},
    ),
    status: z.object({}).optional().describe('Not used.'),
  },
});
export type HostDeployPolicy = ObjectOf<typeof HostDeployPolicy>;

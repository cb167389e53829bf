import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, group, int32, int64, version } from '../common/fields.ts';

const attribute = z.object({
  type: z.enum(['String', 'Integer', 'Enumeration', 'Boolean']).describe('Type.'),
  values: z.array(z.string()).optional().describe('Values of an Enumeration.'),
  lowerBound: int64().optional().describe('Smallest value of an Integer.'),
  upperBound: int64().optional().describe('Largest value of an Integer.'),
  minLength: int32().optional().describe('Least number of characters of a String.'),
  maxLength: int32().optional().describe('Most characters of a String.'),
  readOnly: z.boolean().optional().describe('True if it cannot be set.'),
});

/**
 * Definitions of BIOS attributes, shared by all servers whose BMC reports the same. The name ends with a digest of the content: some
 * vendors give all models and BIOS versions one registry identifier.
 */
export const BIOSAttributeRegistry = defineKind({
  group,
  version,
  kind: 'BIOSAttributeRegistry',
  plural: 'biosattributeregistries',
  shortNames: ['biosreg'],
  scope: 'Cluster',
  description:
    'Definitions of BIOS attributes (Redfish AttributeRegistry), shared by servers. Written by the operator.',
  columns: { RegistryID: '.spec.registryID', ...age },
  fields: {
    spec: z
      .object({
        registryID: z.string().describe('Identifier of the registry, as the BMC reports it.'),
        attributes: z
          .record(z.string(), attribute)
          .meta({ 'x-kubernetes-map-type': 'atomic' })
          .describe('Definitions by name of the attribute, without passwords and hidden attributes.'),
        omitted: int32()
          .optional()
          .describe('Number of attributes that are not listed, as they are beyond the limits.'),
      })
      .describe('Registry.'),
  },
});
export type BIOSAttributeRegistry = ObjectOf<typeof BIOSAttributeRegistry>;

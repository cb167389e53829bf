import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, group, version } from '../common/fields.ts';

/**
 * Endpoints by MAC address, for the admission policy. The API server evaluates a policy once per parameter object, so a few
 * large objects replace all Endpoints. A custom kind instead of a ConfigMap, because the API server would convert every
 * entry of a ConfigMap for CEL at each request.
 *
 * The map is atomic: the API server keeps no managed fields per entry.
 */
export const MACAddressIndex = defineKind({
  group,
  version,
  kind: 'MACAddressIndex',
  plural: 'macaddressindexes',
  scope: 'Cluster',
  description: 'Index of Endpoints by MAC address, for the admission policy. Maintained by the operator; do not edit.',
  columns: age,
  fields: {
    spec: z
      .object({
        endpoints: z
          .record(z.string(), z.string())
          .meta({ 'x-kubernetes-map-type': 'atomic' })
          .describe('Names of Endpoints, by MAC address in twelve upper-case hex digits.'),
      })
      .describe('Part of all MAC addresses. Each address is in exactly one index.'),
  },
});
export type MACAddressIndex = ObjectOf<typeof MACAddressIndex>;

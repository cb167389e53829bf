import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, group, version } from '../common/fields.ts';

/**
 * Which Endpoint has which MAC address, for the admission rule: the API server evaluates a rule once with every object
 * that it is against, so it is given a few large ones instead of all Endpoints. A kind of our own and not a ConfigMap,
 * which the API server would turn into what CEL reads entry by entry at each request.
 *
 * The map is one value to the API server: it keeps no list of who wrote which entry.
 */
export const MACAddressIndex = defineKind({
  group,
  version,
  kind: 'MACAddressIndex',
  plural: 'macaddressindexes',
  scope: 'Cluster',
  description:
    'Which Endpoint has which MAC address. Kept by the operator for the admission rule; not to be written by people.',
  columns: age,
  fields: {
    spec: z
      .object({
        endpoints: z
          .record(z.string(), z.string())
          .meta({ 'x-kubernetes-map-type': 'atomic' })
          .describe('Name of the Endpoint, by its MAC address as twelve hex digits in upper case.'),
      })
      .describe('A part of all MAC addresses: each stands in one index only.'),
  },
});
export type MACAddressIndex = ObjectOf<typeof MACAddressIndex>;

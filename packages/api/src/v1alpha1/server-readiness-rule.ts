import { immutable, rule } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { conditions, defaulted, group, labelSelector, version } from '../common/fields.ts';

const condition = z.object({
  type: z.string().min(1).max(316).describe('Type of the server condition.'),
  requiredStatus: z.enum(['True', 'False', 'Unknown']).describe('Required status of the condition.'),
});

const taint = [
  { cel: 'size(self.key) <= 253', message: 'taint key length must be at most 253 characters' },
  { cel: 'self.key == oldSelf.key', message: 'taint key is immutable' },
  { cel: 'self.effect == oldSelf.effect', message: 'taint effect is immutable' },
  {
    cel: '!has(oldSelf.value) || (has(self.value) && self.value == oldSelf.value)',
    message: 'taint value is immutable',
  },
].reduce(
  (schema, { cel, message }) => rule(schema, cel, message),
  z.object({
    key: z.string().min(1).describe('Key of the taint.'),
    value: z.string().optional().describe('Value of the taint.'),
    effect: defaulted(
      z
        .enum(['NoBind', 'Evict'])
        .describe(
          'NoBind: no new claim is bound to the server. Evict: in addition, a bound claim is evicted after a grace period. Default: NoBind.',
        ),
      'NoBind',
    ),
  }),
);

const spec = z.object({
  conditions: immutable(
    z
      .array(condition)
      .min(1)
      .max(32)
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
    'conditions',
  ).describe('Conditions that a server must meet. Immutable.'),
  enforcementMode: immutable(z.enum(['BootstrapOnly', 'Continuous']), 'enforcementMode').describe(
    'BootstrapOnly: the taint is removed for good once all conditions were met. Continuous: the taint is set again when a condition fails. Immutable.',
  ),
  taint: taint.describe('Taint on servers that are not ready.'),
  serverSelector: immutable(labelSelector(), 'serverSelector').describe(
    'Label selector of the servers that the rule applies to. Empty: all servers. Immutable.',
  ),
});

/** Taints servers until the given conditions are met. */
export const ServerReadinessRule = defineKind({
  group,
  version,
  kind: 'ServerReadinessRule',
  plural: 'serverreadinessrules',
  scope: 'Cluster',
  description: 'Readiness rule: taints servers until the given conditions are met.',
  columns: {},
  fields: {
    spec: spec.describe('Desired state.'),
    status: z.object({ conditions: conditions() }).optional().describe('Observed state.'),
  },
});
export type ServerReadinessRule = ObjectOf<typeof ServerReadinessRule>;

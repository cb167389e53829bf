import { immutable, rule } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { conditions, defaulted, group, labelSelector, version } from '../common/fields.ts';

const condition = z.object({
  type: z.string().min(1).max(316).describe('Condition of the server.'),
  requiredStatus: z.enum(['True', 'False', 'Unknown']).describe('Status it must have.'),
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
    key: z.string().min(1).describe('Name of the taint.'),
    value: z.string().optional().describe('Value of the taint.'),
    effect: defaulted(
      z
        .enum(['NoBind', 'Evict'])
        .describe(
          'NoBind: no new claim gets the server. Evict: a claim that holds it has to leave, too, after a grace period.',
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
  ).describe('What must hold for a server to be ready.'),
  enforcementMode: immutable(z.enum(['BootstrapOnly', 'Continuous']), 'enforcementMode').describe(
    'BootstrapOnly: holding once is enough for ever. Continuous: the taint comes back when a condition fails.',
  ),
  taint: taint.describe('Taint of servers that are not ready.'),
  serverSelector: immutable(labelSelector(), 'serverSelector').describe('Servers the rule is about; empty means all.'),
});

/** Keeps servers out of the pool until some conditions hold. */
export const ServerReadinessRule = defineKind({
  group,
  version,
  kind: 'ServerReadinessRule',
  plural: 'serverreadinessrules',
  scope: 'Cluster',
  description: 'Keeps servers out of the pool until conditions that others report hold.',
  columns: {},
  fields: {
    spec: spec.describe('The rule.'),
    status: z.object({ conditions: conditions() }).optional().describe('How the rule fares.'),
  },
});
export type ServerReadinessRule = ObjectOf<typeof ServerReadinessRule>;

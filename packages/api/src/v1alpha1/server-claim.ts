import { immutable, keptOnceSet } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import {
  age,
  conditions,
  defaulted,
  group,
  labelSelector,
  localRef,
  desiredPower,
  toleration,
  version,
  readyColumns,
} from '../common/fields.ts';

const spec = z.object({
  power: desiredPower().describe('Power state the claimed server should have: On or Off.'),
  image: z.string().describe('Operating system image the server boots.'),
  serverRef: immutable(localRef(), 'serverRef')
    .optional()
    .describe('The claimed server. Left empty, the operator picks one and writes it here.'),
  serverSelector: immutable(labelSelector(), 'serverSelector')
    .optional()
    .describe('Labels of servers that may be picked. With neither this nor serverRef, any server may be.'),
  ignitionSecretRef: localRef()
    .optional()
    .describe('Secret in the namespace of the claim with the first-boot configuration: keys format and ignition.'),
  userDataRef: localRef()
    .optional()
    .describe(
      'Secret in the namespace of the claim, of type metal.ironcore.dev/user-data, that the running machine may read.',
    ),
  tolerations: z.array(toleration()).optional().describe('Server taints this claim accepts.'),
  bootPolicy: z
    .enum(['networkOnce', 'networkAlways', 'safeStop'])
    .optional()
    .describe(
      'How the server starts after its first boot. networkOnce (default): from its disk. networkAlways: from the network each time. safeStop: a server that lost power stays off until power is set to Off and On again.',
    ),
});

const status = z.object({
  phase: z.string().optional().describe('Bound while a server is held, Lost when it was taken away, else Unbound.'),
  conditions: conditions(),
});

/** A user's request for one server. Bound for as long as the claim exists. */
export const ServerClaim = defineKind({
  group,
  version,
  kind: 'ServerClaim',
  plural: 'serverclaims',
  shortNames: ['scl'],
  scope: 'Namespaced',
  description: "A user's request for one server, and what that server should boot.",
  columns: {
    Server: '.spec.serverRef.name',
    Ignition: '.spec.ignitionSecretRef.name',
    Image: '.spec.image',
    Phase: '.status.phase',
    ...age,
    ...readyColumns,
  },
  fields: {
    spec: defaulted(keptOnceSet(spec, 'serverRef', 'serverSelector').describe('What is wanted.'), {
      power: 'Off',
      image: '',
    }),
    status: status.optional().describe('What was given.'),
  },
});
export type ServerClaim = ObjectOf<typeof ServerClaim>;

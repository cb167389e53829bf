import { immutable, keptOnceSet, rule } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { diskImage } from '../common/disk-image.ts';
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
  power: desiredPower().describe('Desired power state of the claimed server: On or Off.'),
  image: z.string().describe('Operating system image to boot. Empty with diskImage.'),
  diskImage: diskImage().optional(),
  serverRef: immutable(localRef(), 'serverRef')
    .optional()
    .describe('Claimed server. Default: the operator selects a server and sets this field. Immutable once set.'),
  serverSelector: immutable(labelSelector(), 'serverSelector')
    .optional()
    .describe(
      'Label selector of eligible servers. Without serverSelector and serverRef, every server is eligible. Immutable once set.',
    ),
  ignitionSecretRef: localRef()
    .optional()
    .describe(
      'Secret in the namespace of the claim with the first-boot configuration, under the keys format and ignition.',
    ),
  userDataRef: localRef()
    .optional()
    .describe(
      'Secret of type metal.ironcore.dev/user-data in the namespace of the claim. The metadata service serves it to the running machine.',
    ),
  tolerations: z.array(toleration()).optional().describe('Tolerated server taints.'),
  bootPolicy: z
    .enum(['networkOnce', 'networkAlways', 'safeStop'])
    .optional()
    .describe(
      'Boot behaviour after the first boot. networkOnce: from disk. networkAlways: from the network at each start. safeStop: a server that lost power stays off until power is set to Off and then On. Default: networkOnce.',
    ),
});

const status = z.object({
  phase: z
    .string()
    .optional()
    .describe('Phase: Unbound, Bound (the claim holds a server) or Lost (the server was withdrawn).'),
  addresses: z
    .array(z.string())
    .optional()
    .describe('IP addresses of the machine, as its last discovery reported them.'),
  conditions: conditions(),
});

const withoutOtherBoot = rule(
  rule(spec, "!has(self.diskImage) || self.image == ''", 'expected an empty image with diskImage'),
  '!has(self.diskImage) || !has(self.ignitionSecretRef)',
  'expected no ignitionSecretRef with diskImage: use diskImage.userData',
);
const claimSpec = rule(
  withoutOtherBoot,
  "!has(self.diskImage) || !has(self.bootPolicy) || self.bootPolicy != 'networkAlways'",
  'expected another bootPolicy than networkAlways with diskImage: the server boots from its disk',
);

/** A request for one server. The server stays bound for as long as the claim exists. */
export const ServerClaim = defineKind({
  group,
  version,
  kind: 'ServerClaim',
  plural: 'serverclaims',
  shortNames: ['scl'],
  scope: 'Namespaced',
  description: 'Request for one server, with the image to boot.',
  columns: {
    Server: '.spec.serverRef.name',
    Ignition: '.spec.ignitionSecretRef.name',
    Image: '.spec.image',
    Phase: '.status.phase',
    ...age,
    ...readyColumns,
  },
  fields: {
    spec: defaulted(keptOnceSet(claimSpec, 'serverRef', 'serverSelector').describe('Desired state.'), {
      power: 'Off',
      image: '',
    }),
    status: status.optional().describe('Observed state.'),
  },
});
export type ServerClaim = ObjectOf<typeof ServerClaim>;

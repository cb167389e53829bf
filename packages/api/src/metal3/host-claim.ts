import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { defaulted, plainConditions, time } from '../common/fields.ts';
import {
  consumerReference,
  customDeploy,
  image,
  metal3Group,
  metal3Version,
  namespacedName,
  secretReference,
} from './fields.ts';

const hostSelector = () =>
  z.object({
    inNamespace: z.string().optional().describe('Namespace of the host. Default: any that admits the claim.'),
    matchExpressions: z
      .array(
        z.object({
          key: z.string().describe('Label key.'),
          operator: z.string().describe('Operator: =, ==, !=, in, notin, exists or !.'),
          values: z.array(z.string()).describe('Values. Empty for exists and !.'),
        }),
      )
      .optional()
      .describe('Label requirements. All of them must match.'),
    matchLabels: z.record(z.string(), z.string()).optional().describe('Required labels, with their values.'),
  });

/** A request for a BareMetalHost of another namespace. */
export const HostClaim = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'HostClaim',
  plural: 'hostclaims',
  scope: 'Namespaced',
  description: 'Request for a BareMetalHost of another namespace. No controller reads it.',
  columns: {},
  fields: {
    spec: defaulted(
      z
        .object({
          consumerRef: consumerReference().optional().describe('Object that uses the claim.'),
          customDeploy: customDeploy().optional().describe('Deployment by a ramdisk of your own.'),
          failureDomain: z.string().optional().describe('Preferred failure domain.'),
          hostSelector: hostSelector().optional().describe('Hosts that the claim may get.'),
          image: image().optional().describe('Image to deploy.'),
          metaData: secretReference().optional().describe('Secret with meta data of the config drive.'),
          networkData: secretReference().optional().describe('Secret with network data of the config drive.'),
          poweredOn: z.boolean().describe('Desired power.'),
          userData: secretReference().optional().describe('Secret with user data of the config drive.'),
        })
        .describe('Desired state.'),
      { poweredOn: false },
    ),
    status: z
      .object({
        bareMetalHost: namespacedName('BareMetalHost').optional().describe('Host of the claim.'),
        conditions: plainConditions(),
        hardwareData: namespacedName('HardwareData').optional().describe('HardwareData of the host.'),
        lastUpdated: time().optional().describe('Time of the last change of the status.'),
        poweredOn: z.boolean().optional().describe('Last observed power.'),
      })
      .optional()
      .describe('Observed state.'),
  },
});
export type HostClaim = ObjectOf<typeof HostClaim>;

import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, conditions, group, int32, ipAddress, macAddress, time, version, readyColumns } from '../common/fields.ts';

/** A device on the management network, by its addresses. The MAC prefix database tells what it is. */
export const Endpoint = defineKind({
  group,
  version,
  kind: 'Endpoint',
  plural: 'endpoints',
  shortNames: ['mep'],
  scope: 'Cluster',
  description: 'A device on the out-of-band management network, identified by its MAC and IP address.',
  deprecated:
    'metal.ironcore.dev/v1alpha1 Endpoints are deprecated; specify the network access inline via BMC.spec.access (an InlineEndpoint with macAddress and ip) instead',
  columns: {
    MACAddress: '.spec.macAddress',
    IP: '.spec.ip',
    ...age,
    Ready: '.status.conditions[?(@.type=="Ready")].status',
    ...readyColumns,
  },
  fields: {
    spec: z
      .object({
        macAddress: macAddress().optional().describe('MAC address of the device.'),
        ip: ipAddress().optional().describe('IP address of the device.'),
      })
      .optional()
      .describe('The addresses.'),
    status: z
      .object({
        rejectedDefaultCredentials: int32()
          .min(0)
          .optional()
          .describe('How many default credentials the device rejected, in the order of the MAC prefix database.'),
        lastLoginAttemptTime: time().optional().describe('When the last of them was tried.'),
        conditions: conditions(),
      })
      .optional()
      .describe('What became of the device.'),
  },
});
export type Endpoint = ObjectOf<typeof Endpoint>;

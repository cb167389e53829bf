import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import {
  age,
  conditions,
  group,
  int32,
  ipAddress,
  macAddress,
  time,
  version,
  readyColumn,
  readyColumns,
} from '../common/fields.ts';

/** A device on the management network, by its addresses. The MAC prefix database maps it to a device type. */
export const Endpoint = defineKind({
  group,
  version,
  kind: 'Endpoint',
  plural: 'endpoints',
  shortNames: ['mep'],
  scope: 'Cluster',
  description: 'Device on the out-of-band management network, identified by its MAC address and IP address.',
  deprecated:
    'metal.ironcore.dev/v1alpha1 Endpoints are deprecated; specify the network access inline via BMC.spec.access (an InlineEndpoint with macAddress and ip) instead',
  columns: {
    MACAddress: '.spec.macAddress',
    IP: '.spec.ip',
    ...age,
    Ready: readyColumn,
    ...readyColumns,
  },
  fields: {
    spec: z
      .object({
        macAddress: macAddress().optional().describe('MAC address of the device.'),
        ip: ipAddress().optional().describe('IP address of the device.'),
      })
      .optional()
      .describe('Addresses of the device.'),
    status: z
      .object({
        rejectedDefaultCredentials: int32()
          .min(0)
          .optional()
          .describe(
            'Number of default credentials of the MAC prefix database that the device rejected so far. They are tried in the order of the database.',
          ),
        lastLoginAttemptTime: time().optional().describe('Time of the last login attempt with default credentials.'),
        conditions: conditions(),
      })
      .optional()
      .describe('Observed state of the device.'),
  },
});
export type Endpoint = ObjectOf<typeof Endpoint>;

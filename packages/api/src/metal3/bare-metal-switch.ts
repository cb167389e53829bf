import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { conditions, defaulted, int32 } from '../common/fields.ts';
import { metal3Group, metal3Version, secretReference, strictMacAddress } from './fields.ts';

/** A switch that machines are connected to. */
export const BareMetalSwitch = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'BareMetalSwitch',
  plural: 'baremetalswitches',
  shortNames: ['bms'],
  scope: 'Namespaced',
  description: 'Switch that machines are connected to. No controller reads it.',
  columns: {
    Driver: '.spec.driver',
    'Device Type': '.spec.deviceType',
    Address: '.spec.address',
    Valid: '.status.conditions[?(@.type=="Valid")].status',
  },
  fields: {
    spec: z
      .object({
        address: z.string().describe('Address of the switch.'),
        credentials: secretReference()
          .optional()
          .describe('Secret with username, and password or ssh-privatekey; admin-password is optional.'),
        deviceType: z.string().describe('Device type of the driver.'),
        disableCertificateVerification: z.boolean().optional().describe('Skips verification of the certificate.'),
        driver: defaulted(z.enum(['generic-switch']).describe('Driver.'), 'generic-switch'),
        macAddress: strictMacAddress().describe('MAC address of the switch.'),
        port: int32().min(1).max(65_535).optional().describe('TCP port.'),
      })
      .optional()
      .describe('Access to the switch.'),
    status: z.object({ conditions: conditions() }).optional().describe('Observed state.'),
  },
});
export type BareMetalSwitch = ObjectOf<typeof BareMetalSwitch>;

import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { defaulted } from '../common/fields.ts';
import { metal3Group, metal3Version } from './fields.ts';

const moment = () => z.enum(['onPreparing', 'onReboot']).optional();

/** When settings and firmware of the BareMetalHost of the same name are changed. */
export const HostUpdatePolicy = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'HostUpdatePolicy',
  plural: 'hostupdatepolicies',
  scope: 'Namespaced',
  description: 'When settings and firmware of the BareMetalHost of the same name are changed.',
  hasStatusSubresource: false,
  columns: {},
  fields: {
    spec: defaulted(
      z
        .object({
          firmwareSettings: moment().describe(
            'HostFirmwareSettings are applied before the host is available, or also when a provisioned host restarts. Default: onPreparing.',
          ),
          firmwareUpdates: moment().describe(
            'HostFirmwareComponents are applied before the host is available, or also when a provisioned host restarts. Default: onPreparing.',
          ),
        })
        .describe('Policy.'),
      {},
    ),
    status: z.object({}).optional().describe('Not used.'),
  },
});
export type HostUpdatePolicy = ObjectOf<typeof HostUpdatePolicy>;
